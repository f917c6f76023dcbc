# What containers of workspaces run in stories on a real cluster.
ARG BASE=gcr.io/distroless/nodejs24-debian13:nonroot
FROM ${BASE}
COPY workload-container.mjs /
USER 65532
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=1", "/workload-container.mjs"]
