// Preloaded into suites that know no other port than 6379: their connections to it go to REDIS_PORT.

'use strict';

const net = require('node:net');

const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function redirected(...parts) {
  // What net.connect has normalized is an array of the options and the callback.
  const [options] = Array.isArray(parts[0]) ? parts[0] : parts;
  if (options && Number(options.port) === 6379) options.port = Number(process.env.REDIS_PORT);
  return connect.apply(this, parts);
};
