// What the programs share: their arguments, their output, and the server's restart.
//
// Usage: node <program>.js <port>

'use strict';

const readline = require('node:readline');

const port = Number(process.argv[2]);
const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const show = (what, ...values) => console.log(what, JSON.stringify(values));

// Milliseconds that are left of `whole` differ from run to run: only that they are near it is shown.
const near = (left, whole) => left > whole / 2 && left <= whole;

// The server is ended and started again by who started the program.
async function restartServer() {
  console.log('restart');
  await answers.next();
}

function main(run) {
  run().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
  });
}

module.exports = { port, show, near, restartServer, main };
