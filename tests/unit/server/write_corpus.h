// Commands that leave every kind of record in a log and in a base.
#pragma once

#include <absl/strings/str_replace.h>

#include <string>
#include <vector>

namespace tally::test {

// Words parted by blanks; `%` stands for the pass's number. All succeed, on any clock of this
// century before 2030.
inline const std::vector<std::string>& WriteLines() {
  static const std::vector<std::string> lines = {
      // strings
      "SET s% hello", "SET e% soon PXAT 1900000000000", "SETRANGE s% 3 p!", "APPEND s% more",
      "SETEX ex% 900000000 v", "GETEX s% PXAT 1900000000001", "GETSET s% again", "INCR n%",
      "INCRBY n% 41", "DECR n%", "INCRBYFLOAT f% 1.5", "INCREX x% UBOUND 9 EX 900000000",
      "MSET a% 1 b% 2", "MSETNX c% 1 d% 2", "GETDEL c%", "SETBIT bits% 4000 1",
      "BITOP NOT bits2% bits%", "PFADD pf% a b c", "PFMERGE pf2% pf%",
      // lists
      "RPUSH l% 1 2 3 4 5", "LPUSH l% zero", "LINSERT l% BEFORE 2 x", "LSET l% 0 y", "LREM l% 1 3",
      "LTRIM l% 0 4", "LPOP l%", "RPOP l%", "LMOVE l% l2% LEFT RIGHT", "RPOPLPUSH l% l2%",
      "LMPOP 1 l2% LEFT",
      // hashes and sets
      "HSET h% f v g 2", "HINCRBY h% g 3", "HINCRBYFLOAT h% g 0.5", "HSETNX h% z 1", "HDEL h% f",
      "SADD t% a b c d e", "SREM t% a", "SPOP t%", "SADD u% q r", "SMOVE u% t% q",
      "SUNIONSTORE su% t% u%", "SINTERSTORE si% su% u%", "SDIFFSTORE sd% su% u%",
      // sorted sets
      "ZADD z% 1 a 2.5 b 3 c 4 d 5 e 6 f 7 g", "ZINCRBY z% 50 a", "ZREM z% b", "ZPOPMIN z%",
      "ZPOPMAX z%", "ZREMRANGEBYSCORE z% 4 4", "ZREMRANGEBYRANK z% 0 0", "ZADD y% 0 m 0 n 0 o",
      "ZREMRANGEBYLEX y% [m [m", "ZRANGESTORE zr% z% 0 -1", "ZUNIONSTORE zu% 2 z% y%",
      "ZINTERSTORE zi% 2 zu% y%", "ZDIFFSTORE zd% 2 zu% y%", "ZMPOP 1 zu% MIN",
      // keys
      "RENAME s% s2%", "COPY s2% s3%", "MOVE s3% 1", "PERSIST e%", "PEXPIREAT e% 1900000000000",
      "EXPIRE a% 800000000", "DEL b%", "UNLINK d%", "SWAPDB 1 2",
      // counting
      "HITS.ADD hits% 1h", "HITS.ADD hits% 1h COUNT 5", "HITS.UNDO hits% 2",
      "POLICY.SET p% SLIDING 4 20s", "LIMIT.TAKE limit% POLICY p% FIXED 9 1m CALENDAR 9 day",
      "LIMIT.FORCE limit% BUCKET 5 1 10s ROLLING 4 9s COST 3", "LIMIT.GIVE limit%",
      "LIMIT.TAKE gone% FIXED 9 1m", "LIMIT.RESET gone%", "CL.THROTTLE throttle% 5 10 20",
      "POLICY.DEL p%", "POLICY.SET q% FIXED 3 1s", "ACTIVE.CREATE page% WINDOW 90s TZ Asia/Tokyo",
      "ACTIVE.TOUCH page% ann bob cid", "ACTIVE.FORGET page% bob",
      "QUOTA.SETLIMIT book% 7 0 100 30d 7 1 20 30d 8 0 5 30d",
      "QUOTA.BUY book% 1 11 ITEMS 7 0 2 7 1 3", "QUOTA.RECORD book% 2 12 ITEMS 8 0 9",
      "QUOTA.RETURN book% 1 11 ITEMS 7 1", "QUOTA.DELLIMIT book% 8", "QUOTA.RESET book% 2",
      // several in one turn
      "EVAL redis.call('set',KEYS[1],'x')redis.call('rpush',KEYS[2],1,2) 2 script% scripts%"};
  return lines;
}

inline std::string LineOfPass(const std::string& line, int pass) {
  return absl::StrReplaceAll(line, {{"%", std::to_string(pass)}});
}

}  // namespace tally::test
