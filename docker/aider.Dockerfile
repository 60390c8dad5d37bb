# swarmline/aider:1, for roles whose engine is aider: the sandbox image with Aider and the packages of aider.requirements.txt. They stand
# apart from the image's own Python, so that they get in the way of no project's.
ARG BASE
FROM ${BASE}
COPY aider /opt/aider
COPY start /usr/local/bin/aider
RUN aider --version
