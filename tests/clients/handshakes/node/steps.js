// What the two libraries' programs share: their arguments, their output, and the order of the steps.
//
// Usage: node <program>.js <library> <port> <protocol or -> <step>...

'use strict';

const [library, port, protocol, ...steps] = process.argv.slice(2);

function printable(value) {
  if (Buffer.isBuffer(value)) return { bytes: value.toString('latin1') };
  if (value instanceof Error) return { error: value.message };
  if (Array.isArray(value)) return value.map(printable);
  return value === undefined ? 'undefined' : value;
}

function show(step, ...values) {
  console.log(step, JSON.stringify(values.map(printable)));
}

// The rejection of a promise, as a value to show.
const failure = (promise) => promise.then((value) => ['no error', value], (error) => error);

// A time to live of 100 s may have lost some of it on a slow machine.
const about100 = (ttl) => ttl > 50 && ttl <= 100;

async function main(connect, disconnect, definitions) {
  const client = await connect(0);
  for (const step of steps) await definitions[step](client, (...values) => show(step, ...values));
  await disconnect(client);
}

function run(...parts) {
  main(...parts).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

module.exports = {
  library: require(library), port: Number(port), protocol: protocol === '-' ? undefined : Number(protocol),
  failure, about100, run,
};
