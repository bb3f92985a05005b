// boardgame.io as a peer, with a game of one move. `server FOLDER` serves from files, `server` from memory, and prints its port.
// `client PORT CONNECTIONS SECONDS` plays one move after the other on each connection, and prints the milliseconds of each move.

const { createRequire } = require("node:module");
const { join } = require("node:path");
const load = createRequire(join(process.cwd(), "of.js"));

const game = { name: "place", setup: () => ({ units: {} }), moves: { place: ({ G }, tile) => void (G.units[tile] = (G.units[tile] ?? 0) + 1) } };
const MOVES = 100; // of a match
const [what, ...options] = process.argv.slice(2);

async function serve([dir]) {
  const { Server, FlatFile } = load("boardgame.io/server");
  const server = Server({ games: [game], origins: ["http://127.0.0.1"], ...(dir ? { db: new FlatFile({ dir }) } : {}) });
  const { appServer } = await server.run({ port: 0, callback: () => {} });
  console.log(`port ${appServer.address().port}`);
}

function play([port, connections, seconds]) {
  const { io } = load("socket.io-client");
  const took = [];
  let open = 0;
  let began = 0;
  for (let line = 0; line < connections; line++) {
    const socket = io(`http://127.0.0.1:${port}/${game.name}`, { transports: ["websocket"], forceNew: true });
    let match = "";
    let sent = 0;
    const begin = () => socket.emit("sync", (match = `m${process.pid}-${line}-${took.length}`), "0", undefined, 2);
    const move = ({ _stateID: version }) => {
      if (began && performance.now() - began > seconds * 1000) return void finish();
      if (version >= MOVES) return void begin();
      sent = performance.now();
      socket.emit("update", { type: "MAKE_MOVE", payload: { type: "place", args: [`h${version % 12}`], playerID: "0" } }, version, match, "0");
    };
    socket.on("connect", begin);
    socket.on("sync", (_, { state }) => {
      if (state._stateID === 0 && ++open === Number(connections)) began = performance.now();
      move(state);
    });
    socket.on("update", (_, state) => {
      if (began) took.push(performance.now() - sent);
      move(state);
    });
  }
  let finish = () => {
    finish = () => {};
    process.stdout.write(JSON.stringify({ took, seconds: (performance.now() - began) / 1000 }), () => process.exit(0));
  };
}

what === "server" ? serve(options) : play(options);
