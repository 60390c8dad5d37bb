# swarmline/node:22, the sandbox of agents and gates. Nothing here is secret, and nothing runs as root later: the sandbox
# starts every container as user 10001 with a read-only root.
ARG BASE
FROM ${BASE}
# Node and npm come from their npm packages at the versions of versions.json; npm is not inside the node binary.
COPY node /usr/local/bin/node
COPY npm /usr/lib/node_modules/npm
RUN ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/bin/npm \
 && ln -sf ../lib/node_modules/npm/bin/npx-cli.js /usr/bin/npx \
 && groupadd --gid 10001 agent \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /home/agent agent \
 && node --version && npm --version && git --version && make --version && python3 --version
