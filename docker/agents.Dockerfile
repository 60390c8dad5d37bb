# swarmline/agents:1, for roles whose engine is an agent program: the sandbox image with Claude Code and Codex at the versions of
# agents.json. Their licences are their makers': the image is made on the machine that uses it, and not passed on.
ARG BASE
FROM ${BASE}
COPY claude /usr/local/bin/claude
COPY codex /opt/codex
RUN ln -s /opt/codex/bin/codex /usr/local/bin/codex && claude --version && codex --version
