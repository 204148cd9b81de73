/* The steps with hiredis. Usage: hiredis port step... */

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* step;

static void print_reply(const redisReply* reply) {
  switch (reply->type) {
    case REDIS_REPLY_INTEGER: printf(" (integer) %lld", reply->integer); break;
    case REDIS_REPLY_NIL: printf(" (nil)"); break;
    case REDIS_REPLY_STATUS: printf(" (status) %s", reply->str); break;
    case REDIS_REPLY_ERROR: printf(" (error) %s", reply->str); break;
    case REDIS_REPLY_STRING:
      printf(" (string)");
      for (size_t i = 0; i < reply->len; ++i) printf(" %02x", (unsigned char)reply->str[i]);
      break;
    case REDIS_REPLY_ARRAY:
      printf(" [");
      for (size_t i = 0; i < reply->elements; ++i) print_reply(reply->element[i]);
      printf(" ]");
      break;
    default: printf(" (type %d)", reply->type);
  }
}

static redisReply* answered(redisContext* context, void* reply) {
  if (reply == NULL) {
    fprintf(stderr, "%s: %s\n", step, context->errstr);
    exit(1);
  }
  return reply;
}

static void show(redisContext* context, const char* command) {
  redisReply* reply = answered(context, redisCommand(context, command));
  printf("%s: %s:", step, command);
  print_reply(reply);
  printf("\n");
  freeReplyObject(reply);
}

/* A time to live of 100 s may have lost some of it on a slow machine. */
static void show_about_100(redisContext* context, const char* command, long long unit) {
  redisReply* reply = answered(context, redisCommand(context, command));
  const long long ttl = reply->integer / unit;
  printf("%s: %s: %s\n", step, command, ttl > 50 && ttl <= 100 ? "about 100" : "not about 100");
  freeReplyObject(reply);
}

static redisContext* connect_to(int port) {
  redisContext* context = redisConnect("127.0.0.1", port);
  if (context == NULL || context->err) {
    fprintf(stderr, "cannot connect: %s\n", context ? context->errstr : "no memory");
    exit(1);
  }
  return context;
}

static void show_bytes(redisContext* context) {
  const char bytes[] = {0, '\r', '\n', (char)0xff, '$'};
  freeReplyObject(answered(
      context, redisCommand(context, "SET %b %b", bytes, sizeof bytes, bytes, sizeof bytes)));
  redisReply* reply = answered(context, redisCommand(context, "GET %b", bytes, sizeof bytes));
  printf("%s: bytes:", step);
  print_reply(reply);
  printf("\n");
  freeReplyObject(reply);
}

static void show_pipeline(redisContext* context) {
  for (int i = 0; i < 100; ++i) redisAppendCommand(context, "INCR p");
  for (int i = 0; i < 100; ++i) {
    void* reply = NULL;
    redisGetReply(context, &reply);
    print_reply(answered(context, reply));
    freeReplyObject(reply);
  }
  printf("\n");
}

static void show_databases(redisContext* context, int port) {
  redisContext* other = connect_to(port);
  show(other, "SELECT 3");
  show(other, "SET only-in-3 x");
  show(context, "GET only-in-3");
  show(other, "DBSIZE");
  redisFree(other);
}

static void show_limit(redisContext* context) {
  int through = 0;
  for (int i = 0; i < 3; ++i) {
    redisReply* reply = answered(context, redisCommand(context, "LIMIT.TAKE door FIXED 1 1h"));
    if (reply->elements > 0 && reply->element[0]->integer) ++through;
    freeReplyObject(reply);
  }
  printf("let through: %d\n", through);
}

static const char* const strings[] = {
    "PING", "ECHO hello", "SET s value", "GET s", "GET none", "SET s other NX", "APPEND s !",
    "STRLEN s", "MSET a 1 b 2", "MGET a none b", NULL};
static const char* const counters[] = {
    "INCR n", "INCRBY n 41", "DECR n", "INCRBYFLOAT f 1.5", "INCR s", "INCR", "NOSUCH a", NULL};
static const char* const expiry[] = {"SETEX e 100 1", "PERSIST e", "TTL e", "TTL none",
                                     "EXPIRE e 100", "EXPIRE none 100", NULL};
static const char* const lists[] = {
    "RPUSH l 1 2 three", "LPUSH l 0", "LLEN l", "LRANGE l 0 -1", "LINDEX l 2", "LINDEX l 9",
    "LPOP l", "RPOP l", "LPOP none", "LPUSH s 1", NULL};
static const char* const keys[] = {"EXISTS l s none", "TYPE l", "TYPE none", "SCAN 0 MATCH [a] COUNT 1000",
                                   "DEL a b none", NULL};
static const char* const transaction[] = {
    "MULTI", "INCR t", "RPUSH tl x", "GET none", "LRANGE tl 0 -1", "EXEC", NULL};

static const struct {
  const char* name;
  const char* const* commands;
} scripts[] = {{"strings", strings}, {"counters", counters}, {"expiry", expiry},
               {"lists", lists},     {"keys", keys},         {"transaction", transaction}};

static void run_step(redisContext* context, int port) {
  for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; ++i) {
    if (strcmp(step, scripts[i].name) != 0) continue;
    for (const char* const* command = scripts[i].commands; *command; ++command) {
      show(context, *command);
    }
  }
  if (strcmp(step, "strings") == 0) show_bytes(context);
  if (strcmp(step, "expiry") == 0) {
    show_about_100(context, "TTL e", 1);
    show_about_100(context, "PTTL e", 1000);
  }
  if (strcmp(step, "pipeline") == 0) show_pipeline(context);
  if (strcmp(step, "databases") == 0) show_databases(context, port);
  if (strcmp(step, "limit") == 0) show_limit(context);
}

int main(int argc, char** argv) {
  const int port = argc > 1 ? atoi(argv[1]) : 0;
  redisContext* context = connect_to(port);
  for (int i = 2; i < argc; ++i) {
    step = argv[i];
    run_step(context, port);
  }
  redisFree(context);
  return 0;
}
