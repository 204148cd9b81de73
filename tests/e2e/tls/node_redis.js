// A conversation over TLS with node-redis. Arguments: port, CA file, certificate, key.

'use strict';

const fs = require('fs');
const { createClient } = require('redis5');

const [port, ca, cert, key] = process.argv.slice(2);

async function main() {
  const client = createClient({
    socket: {
      host: 'localhost', port: Number(port), tls: true,
      ca: fs.readFileSync(ca), cert: fs.readFileSync(cert), key: fs.readFileSync(key),
    },
  });
  await client.connect();
  const large = 'x'.repeat(3000000);
  await client.set('large', large);
  const [, echoed] = await Promise.all([client.incr('n'), client.get('large')]);
  const counts = await Promise.all(Array.from({ length: 1000 }, () => client.incr('n')));
  console.log(echoed === large, counts[999]);
  await client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
