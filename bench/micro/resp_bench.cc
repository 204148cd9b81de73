// What a command costs on the wire: parsing requests of a pipeline, appending replies.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "server/resp/parser.h"
#include "server/resp/reply.h"

namespace tally::server {
namespace {

constexpr int kPipeline = 64;

void ParsePipeline(benchmark::State& state, std::string_view request) {
  std::string pipeline;
  for (int i = 0; i < kPipeline; ++i) pipeline += request;
  RequestParser parser;
  for (auto _ : state) {
    std::string_view rest = pipeline;
    while (parser.Next(rest) == ParseStatus::kCommand) {
      benchmark::DoNotOptimize(parser.args().data());
      rest.remove_prefix(parser.consumed());
    }
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}
BENCHMARK_CAPTURE(ParsePipeline, ping, "*1\r\n$4\r\nPING\r\n");
BENCHMARK_CAPTURE(ParsePipeline, ping_inline, "PING\r\n");
BENCHMARK_CAPTURE(ParsePipeline, get, "*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000001\r\n");
BENCHMARK_CAPTURE(ParsePipeline, set,
                  "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000001\r\n$3\r\nxxx\r\n");
BENCHMARK_CAPTURE(ParsePipeline, mset,
                  "*21\r\n$4\r\nMSET\r\n"
                  "$6\r\nkey:01\r\n$3\r\nxxx\r\n$6\r\nkey:02\r\n$3\r\nxxx\r\n"
                  "$6\r\nkey:03\r\n$3\r\nxxx\r\n$6\r\nkey:04\r\n$3\r\nxxx\r\n"
                  "$6\r\nkey:05\r\n$3\r\nxxx\r\n$6\r\nkey:06\r\n$3\r\nxxx\r\n"
                  "$6\r\nkey:07\r\n$3\r\nxxx\r\n$6\r\nkey:08\r\n$3\r\nxxx\r\n"
                  "$6\r\nkey:09\r\n$3\r\nxxx\r\n$6\r\nkey:10\r\n$3\r\nxxx\r\n");

template <typename Append>
void BuildReplies(benchmark::State& state, Append append) {
  ByteBlocks output;
  ReplyBuilder reply(output, 3);
  for (auto _ : state) {
    output.Clear();
    for (int i = 0; i < kPipeline; ++i) append(reply, i);
    benchmark::DoNotOptimize(output.size());
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}
BENCHMARK_CAPTURE(BuildReplies, ok, [](ReplyBuilder& reply, int) { reply.Ok(); });
BENCHMARK_CAPTURE(BuildReplies, small_integer,
                  [](ReplyBuilder& reply, int i) { reply.Integer(i % 10); });
BENCHMARK_CAPTURE(BuildReplies, timestamp,
                  [](ReplyBuilder& reply, int i) { reply.Integer(1700000000000 + i); });
BENCHMARK_CAPTURE(BuildReplies, bulk,
                  [](ReplyBuilder& reply, int) { reply.Bulk("0123456789abcdef"); });
BENCHMARK_CAPTURE(BuildReplies, whole_score,
                  [](ReplyBuilder& reply, int i) { reply.Double(1700000000 + i); });
BENCHMARK_CAPTURE(BuildReplies, score, [](ReplyBuilder& reply, int i) { reply.Double(0.1 * i); });

}  // namespace
}  // namespace tally::server
