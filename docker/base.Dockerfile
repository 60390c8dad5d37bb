# swarmline/base:bookworm where an ordinary base image can be pulled. Elsewhere the same packages come by debootstrap:
# cli/setup/rootfs.ts. The list of packages is in versions.json.
ARG BASE
FROM ${BASE}
ARG PACKAGES
RUN apt-get update \
 && apt-get install -y --no-install-recommends ${PACKAGES} \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
