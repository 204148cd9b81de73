// What the server holds while the page is looked at.

export const XSS_KEY = '<img src=x onerror="alert(1)">';
export const XSS_POLICY = "<b onmouseover=alert(2)>p</b>";
export const ODD_KEY = Buffer.from([0x61, 0xff, 0x00, 0x0a, 0x7a]);

// Longer than what DENIALS keeps of them, and a policy that is counted with others.
export const LONG_KEY = `long:${"k".repeat(90)}`;
export const LONG_POLICY = `api-of-${"p".repeat(50)}`;
export const SHARED_POLICY = `shared-${"s".repeat(130)}`;

export async function fill(wire) {
  const now = Math.floor(Date.now() / 1000);
  await wire.call("POLICY.SET", "login", "FIXED", "5", "10m");
  await wire.call("POLICY.SET", XSS_POLICY, "SLIDING", "2", "1h");
  for (let i = 0; i < 9; i += 1) await wire.call("LIMIT.TAKE", "user:7", "POLICY", "login");
  for (let i = 0; i < 4; i += 1) await wire.call("LIMIT.TAKE", XSS_KEY, "POLICY", XSS_POLICY);
  for (let i = 0; i < 4; i += 1) await wire.call("LIMIT.TAKE", ODD_KEY, "FIXED", "1", "1h");
  await wire.call("POLICY.SET", LONG_POLICY, "FIXED", "1", "1h");
  await wire.call("POLICY.SET", SHARED_POLICY, "FIXED", "1", "1h");
  for (let i = 0; i < 3; i += 1) await wire.call("LIMIT.TAKE", LONG_KEY, "POLICY", LONG_POLICY);
  for (let i = 0; i < 3; i += 1) await wire.call("LIMIT.TAKE", "short", "POLICY", LONG_POLICY);
  for (let i = 0; i < 37; i += 1) await wire.call("HITS.ADD", "said:hello", "24h", "AT", now - i * 2000);
  for (let day = 20; day > 0; day -= 1) {
    await wire.call("ACTIVE.TOUCHAT", "shop", now - day * 86400, `u${day}`, `u${day + 1}`);
  }
  await wire.call("ACTIVE.TOUCH", "shop", "ann", "bob");
  await wire.call("QUOTA.SETLIMIT", "book", "4711", "0", "30", "30d", "4711", "1", "20", "30d");
  await wire.call("QUOTA.BUY", "book", "ann", "order-1", "ITEMS", "4711", "0", "5", "4711", "1", "10");
  await wire.call("POLICY.SET", "two", "FIXED", "9", "1h", "SLIDING", "1", "10m");
  await wire.call("SELECT", "3");
  for (let i = 0; i < 3; i += 1) await wire.call("LIMIT.TAKE", "elsewhere", "POLICY", "two");
  await wire.call("SELECT", "0");
  await wire.call("SET", "greeting", "hello <script>alert(3)</script>");
  await wire.call("HSET", "colours", "sky", "blue", "grass", "green");
  await wire.call("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read", "+@connection", "-client",
    "+info", "+time", "+command|docs", "+policy.list", "+policy.get", "+denials", "+hotkeys|get");
}

// Decisions that go on until the function that it gives is called; half of them are denied.
export function load(server) {
  const wire = server.wire();
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => wire.call("LIMIT.TAKE", `load:${i % 2}`, i % 2 ? "ALLOW" : "DENY")));
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  })().catch(() => {});
  return async () => {
    stopped = true;
    await done;
    wire.close();
  };
}
