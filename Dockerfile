# The program in a container: `docker build .`, then any command of affiliate-mirror. Brings neither the tests' tools nor
# the embedded Postgres (optional packages): DATABASE_URL names the database.
FROM node:26-bookworm-slim

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY migrations migrations
COPY src src

USER node
ENV NODE_ENV=production
ENTRYPOINT ["node", "src/main.ts"]
CMD ["work"]
