# The program in a container: `docker build .`, then any command of affiliate-mirror. Brings neither the tests' tools nor
# the embedded Postgres (optional packages): DATABASE_URL names the database.
FROM node:26-bookworm-slim

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY migrations migrations
COPY src src

# Compiled code is kept there (see src/main.ts) by the user that runs it.
RUN mkdir node_modules/.cache && chown node:node node_modules/.cache
USER node
RUN node src/main.ts --help > /dev/null
ENV NODE_ENV=production
ENTRYPOINT ["node", "--max-semi-space-size=8", "src/main.ts"]
CMD ["work"]
