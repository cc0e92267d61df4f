# The page. The server's build embeds it.
FROM node:20-bookworm-slim AS web
WORKDIR /build/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci
COPY schema.graphql ../
COPY web ./
RUN npm run build

# The server.
FROM rust:1.95-bookworm AS server
WORKDIR /build
COPY Cargo.toml Cargo.lock build.rs ./
COPY migrations migrations
# Not built, but cargo wants every target that Cargo.toml names to be there.
COPY benches benches
COPY src src
COPY --from=web /build/web/dist web/dist
RUN cargo build --release --locked

# What runs: the binary, a user without rights, and a volume for the embedded database.
FROM debian:bookworm-slim
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data writewatch \
    && install --directory --owner=writewatch --group=writewatch --mode=0700 /data
COPY --from=server /build/target/release/writewatch /usr/local/bin/
USER writewatch
VOLUME /data
EXPOSE 4000
ENV WRITEWATCH_DATABASE_URL=sqlite:///data/writewatch.db
ENV WRITEWATCH_LISTEN=0.0.0.0:4000
# Without a client program in the image, bash asks by itself.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/4000 && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && test \"$status\" = 200"]
ENTRYPOINT ["writewatch"]
# A container's loopback cannot be reached from outside it, so the server has to listen on every address, and says so
# with the flag that names the risk: unless clients sign in (WRITEWATCH_AUTH=did), whoever reaches the port may do
# everything. Publish it to this host alone then (`--publish 127.0.0.1:4000:4000`) and put no stranger on the container's
# network. A command of your own in place of this one has to repeat the flag, or to have clients sign in.
CMD ["serve", "--allow-open-access-beyond-loopback"]
