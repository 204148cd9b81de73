// The rules of LIMIT: what each is called, what follows it, and where one ends among many words.

export const RULES = [
  ["FIXED", "limit period [FROM instant]", "At most limit in a period that begins with the first hit, or in periods laid end to end."],
  ["SLIDING", "limit period", "At most limit in any period of that length, exactly."],
  ["ROLLING", "limit period", "The same by two counters: approximate, in little memory."],
  ["BUCKET", "capacity refill period", "Tokens: refill come each period, at most capacity are saved."],
  ["CALENDAR", "limit unit [TZ zone] [STARTS start]", "At most limit each minute, hour, day, week, month or year of a zone."],
  ["BASE", "base limit period [TZ zone] [STARTS time]", "The first base of a day are free; beyond them limit in a period."],
  ["LOCKOUT", "limit period block [GROW factor MAX most]", "At most limit in a period; the last one starts a block, in which all are denied."],
  ["ALLOW", "", "Always allowed."],
  ["DENY", "", "Always denied."],
];
export const USES = [...RULES, ["POLICY", "name", "The rules that are stored under a name."],
  ["SHADOW", "rule", "Judged and counted, but never denies; DENIALS says what it would have denied."]];
const NAMES = new Set([...RULES.map(([name]) => name), "CONCURRENT", "HOLDS", "SHADOW"]);

// The words of each rule.
export function splitRules(words) {
  const rules = [];
  for (const word of words) {
    const last = rules.at(-1) ?? [];
    const shadowed = last.length === 1 && String(last[0]).toUpperCase() === "SHADOW";
    if (rules.length === 0 || (NAMES.has(String(word).toUpperCase()) && !shadowed)) rules.push([]);
    rules[rules.length - 1].push(word);
  }
  return rules;
}
