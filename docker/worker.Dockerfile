# Any of the three workers: docker build -f docker/worker.Dockerfile -t swarmline/worker .
# Built from the checkout's root. The sandbox worker talks to the host's Docker engine through its socket.
ARG NODE=node:22-bookworm-slim
FROM ${NODE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/swarmline
COPY package.json package-lock.json ./
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM ${NODE}
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates openssh-client && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/swarmline
COPY --from=build /opt/swarmline/package.json ./
COPY --from=build /opt/swarmline/node_modules ./node_modules
COPY --from=build /opt/swarmline/dist ./dist
COPY --from=build /opt/swarmline/migrations ./migrations
ENTRYPOINT ["node", "--enable-source-maps", "dist/workers/main.js"]
