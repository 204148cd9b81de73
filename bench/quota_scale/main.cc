// QUOTA at the marketplace's size: fills a server through its socket, loads it, rewrites its log
// under load and starts it again, and prints what that took.
//
//   quota_scale [--scale 0.01] [--seconds 60] [--server build/release/bin/tallyd] [--dir /tmp]
//
// Scale 1 is 6M limits, 10M users and 100M purchases. The server is the benchmark's own, on a
// loopback port that was free.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench/quota_scale/awake_cpus.h"
#include "bench/quota_scale/connection.h"
#include "bench/quota_scale/load.h"
#include "bench/quota_scale/server_process.h"
#include "bench/quota_scale/workload.h"
#include "core/bytes/number.h"

namespace tally::bench {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

struct Options {
  double scale = 0.01;
  double seconds = 60;
  std::string server;
  std::string directory = "/tmp";
};

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double MiB(size_t bytes) { return static_cast<double>(bytes) / kMiB; }

class ProgressBar {
 public:
  ProgressBar(const char* what, size_t total) : what_(what), total_(total), begin_(SecondsNow()) {}

  void Show(size_t done) {
    const size_t percent = done * 100 / total_;
    if (percent == shown_) return;
    shown_ = percent;
    if (!terminal_ && percent % 10 != 0) return;
    constexpr size_t kWidth = 40;
    const std::string bar(percent * kWidth / 100, '#');
    std::fprintf(stderr, "%s%-10s [%-40s] %3zu%% %6.1f s%s", terminal_ ? "\r" : "", what_,
                 bar.c_str(), percent, SecondsNow() - begin_,
                 terminal_ && percent < 100 ? "" : "\n");
  }

 private:
  const char* what_;
  size_t total_;
  double begin_;
  size_t shown_ = 0;
  bool terminal_ = ::isatty(2) != 0;
};

// Sends `count` commands, always some hundreds of them on their way.
template <typename Append>
void Fill(const char* what, const ServerProcess& server, int database, size_t count,
          Append&& append) {
  constexpr size_t kWindow = 512;
  constexpr size_t kBatch = 64;
  ProgressBar bar(what, count);
  LoadOptions options;
  options.port = server.port();
  options.database = database;
  options.connections = kWindow / kBatch;
  options.pipeline = kBatch;
  size_t next = 0;
  // Commands beyond the last one only fill up the last batches.
  const auto append_next = [&](std::string& out) {
    if (next < count) return append(next++, out);
    CommandWriter(out).Begin(1);
    CommandWriter(out).Word("PING");
  };
  const LoadResult result = RunLoad(options, append_next, [&](double) {
    bar.Show(next);
    return next < count;
  });
  if (result.errors > 0) Die("the server refused " + result.first_error);
}

std::string Stats(Connection& control) {
  const std::string reply = control.Call({"QUOTA.STATS", Workload::kBook});
  std::string text;
  size_t end = 0;
  for (const char* name : {"limits", "users", "purchases", "bytes"}) {
    const size_t begin = reply.find(':', end) + 1;
    end = reply.find('\r', begin);
    text += std::string(name) + " " + reply.substr(begin, end - begin) + "  ";
  }
  return text;
}

// The value of a field of INFO; -1 if there is none.
int64_t InfoField(Connection& control, const std::string& field) {
  const std::string reply = control.Call({"INFO", "persistence"});
  const size_t at = reply.find(field + ":");
  return at == std::string::npos ? -1 : std::atoll(reply.c_str() + at + field.size() + 1);
}

class Bench {
  static constexpr int kKeysDatabase = 1;

 public:
  explicit Bench(const Options& options)
      : options_(options),
        workload_(options.scale, NowMs()),
        server_(options.server, options.directory) {}

  void Run() {
    std::printf("scale %g: %zu limits, %zu users, %zu purchases\n", options_.scale,
                workload_.limits(), workload_.users(), workload_.users() * 10);
    server_.Start();
    FillBook();
    FillKeys();
    for (const size_t pipeline : {size_t{1}, size_t{16}}) CompareWithGet(pipeline);
    RemoveKeys();
    const double saturation = Mixed("mixed load", 0);
    PacedLoad(saturation / 2);
    Restart();
  }

 private:
  static int64_t NowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  LoadOptions To(double rate, size_t pipeline = 1) const {
    LoadOptions options;
    options.port = server_.port();
    options.rate = rate;
    options.pipeline = pipeline;
    return options;
  }

  void FillBook() {
    constexpr size_t kSkusOfACall = 50;
    const size_t empty = server_.ResidentBytes();
    const size_t calls = (workload_.skus() + kSkusOfACall - 1) / kSkusOfACall;
    const double begin = SecondsNow();
    Fill("limits", server_, 0, calls, [&](size_t i, std::string& out) {
      workload_.AppendLimits(i * kSkusOfACall, std::min((i + 1) * kSkusOfACall, workload_.skus()),
                             out);
    });
    Connection control(server_.port());
    std::printf("limits:         %.1f s, resident %.1f MiB (%.1f bytes a limit)\n",
                SecondsNow() - begin, MiB(server_.ResidentBytes()),
                PerUnit(server_.ResidentBytes() - empty, workload_.limits()));
    const size_t with_limits = server_.ResidentBytes();
    const double orders_begin = SecondsNow();
    Fill("orders", server_, 0, workload_.orders(),
         [&](size_t i, std::string& out) { workload_.AppendOrder(i, out); });
    const double took = SecondsNow() - orders_begin;
    std::printf(
        "orders:         %.1f s, %.0f a second, resident %.1f MiB (%.1f bytes a purchase)\n", took,
        static_cast<double>(workload_.orders()) / took, MiB(server_.ResidentBytes()),
        PerUnit(server_.ResidentBytes() - with_limits, workload_.users() * 10));
    std::printf("book:           %s\n", Stats(control).c_str());
  }

  static double PerUnit(size_t bytes, size_t units) {
    return static_cast<double>(bytes) / static_cast<double>(units);
  }

  // As many keys as there are users, for GET, beside the book.
  void FillKeys() {
    Fill("keys", server_, kKeysDatabase, workload_.users(), [](size_t i, std::string& out) {
      CommandWriter writer(out);
      writer.Begin(3);
      writer.Word("SET");
      writer.Word(static_cast<int64_t>(i));
      writer.Word(static_cast<int64_t>(i));
    });
  }

  void RemoveKeys() {
    Connection control(server_.port());
    control.Select(kKeysDatabase);
    if (control.Call({"FLUSHDB"}) != "+OK\r\n") Die("FLUSHDB");
  }

  // Server CPU of LEFT of three SKUs against that of GET.
  void CompareWithGet(size_t pipeline) {
    const size_t keys = workload_.users();
    std::mt19937_64 random(3);
    const double get = CpuOf(kKeysDatabase, pipeline, [&](std::string& out) {
      CommandWriter writer(out);
      writer.Begin(2);
      writer.Word("GET");
      writer.Word(static_cast<int64_t>(random() % keys));
    });
    const double left = CpuOf(0, pipeline, [&](std::string& out) { workload_.AppendLeft(out); });
    std::printf("pipeline %-2zu:    CPU of GET %.2f us, of LEFT of 3 SKUs %.2f us: %.2fx\n",
                pipeline, get * 1e6, left * 1e6, left / get);
  }

  // Server CPU seconds a call.
  double CpuOf(int database, size_t pipeline, const std::function<void(std::string&)>& append) {
    const double seconds = std::min(options_.seconds, 5.0);
    const double begin = server_.CpuSeconds();
    LoadOptions load = To(0, pipeline);
    load.database = database;
    const LoadResult result =
        RunLoad(load, append, [&](double elapsed) { return elapsed < seconds; });
    Expect(result);
    return (server_.CpuSeconds() - begin) / static_cast<double>(result.calls);
  }

  static void Expect(const LoadResult& result) {
    if (result.errors > 0) Die("the server refused " + result.first_error);
  }

  static void Print(const char* what, const LoadResult& result) {
    const LatencyHistogram& latency = result.latencies;
    std::printf("%-15s %.0f a second, p50 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, max %.3f ms\n", what,
                result.per_second(), latency.Percentile(0.5), latency.Percentile(0.99),
                latency.Percentile(0.999), latency.max());
    std::fflush(stdout);
  }

  double Mixed(const char* what, double rate) {
    const double begin = server_.CpuSeconds();
    const LoadResult result = RunLoad(
        To(rate), [&](std::string& out) { workload_.AppendMixed(out); },
        [&](double elapsed) { return elapsed < options_.seconds; });
    Expect(result);
    Print((std::string(what) + ":").c_str(), result);
    std::printf("                server CPU %.2f us a call\n",
                (server_.CpuSeconds() - begin) / static_cast<double>(result.calls) * 1e6);
    return result.per_second();
  }

  void PacedLoad(double rate) {
    const AwakeCpus awake;
    Floor(rate);
    Mixed("at half of it", rate);
    Rewrite(rate);
  }

  // What the machine, and this program, add to every latency at that rate.
  void Floor(double rate) {
    const LoadResult result = RunLoad(
        To(rate),
        [](std::string& out) {
          CommandWriter writer(out);
          writer.Begin(1);
          writer.Word("PING");
        },
        [&](double elapsed) { return elapsed < options_.seconds; });
    Expect(result);
    Print("as many PINGs:", result);
  }

  void Rewrite(double rate) {
    Connection control(server_.port());
    const size_t before = server_.ResidentBytes();
    const std::string started = control.Call({"BGREWRITEAOF"});
    if (started[0] == '-') Die("BGREWRITEAOF: " + started);
    size_t peak = before;
    double asked = 0;
    const auto under_way = [&](double elapsed) {
      peak = std::max(peak, server_.ResidentBytes());
      if (elapsed - asked < 0.1) return true;
      asked = elapsed;
      return InfoField(control, "aof_rewrite_in_progress") == 1;
    };
    const LoadResult result =
        RunLoad(To(rate), [&](std::string& out) { workload_.AppendMixed(out); }, under_way);
    Expect(result);
    Print("rewrite:", result);
    std::printf("                %.1f s, longest pause %.1f ms, memory grew by %.1f MiB (%.1f%%)\n",
                result.seconds, result.latencies.max(), MiB(peak - before),
                100 * static_cast<double>(peak - before) / static_cast<double>(before));
  }

  // That the orders of users all over the book are there, line by line.
  void CheckHistories(Connection& control) const {
    constexpr size_t kUsersAsked = 1000;
    for (size_t i = 0; i < kUsersAsked; ++i) {
      const size_t place = i * workload_.users() / kUsersAsked;
      const std::string reply = control.Call(
          {"QUOTA.HISTORY", Workload::kBook, Int64Text(workload_.UserAt(place)).view()});
      const size_t begin = reply.find("\r\n") + 2;
      const std::string expected = workload_.HistoryAt(place);
      if (reply.compare(begin, expected.size(), expected) != 0) {
        Die("the history of a user is " + reply + "and not " + expected);
      }
    }
  }

  void Restart() {
    std::string before;
    {
      Connection control(server_.port());
      before = Stats(control);
      CheckHistories(control);
    }
    server_.Stop();
    const double seconds = server_.Start();
    Connection control(server_.port());
    const std::string after = Stats(control);
    std::printf("restart:        serves after %.1f s, resident %.1f MiB\n", seconds,
                MiB(server_.ResidentBytes()));
    // All but the bytes, which depend on the order in which the book was filled.
    const auto counts = [](const std::string& text) { return text.substr(0, text.find("bytes")); };
    if (counts(after) != counts(before)) Die("the book has changed: " + before + "/ " + after);
    CheckHistories(control);
  }

  Options options_;
  Workload workload_;
  ServerProcess server_;
};

// The server beside this program.
std::string DefaultServer(const char* program) {
  return std::filesystem::absolute(program).parent_path() / "tallyd";
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  options.server = DefaultServer(argv[0]);
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) Die("usage: quota_scale [--scale S] [--seconds S] [--server F] [--dir D]");
    if (name == "--scale") {
      options.scale = std::atof(argv[i + 1]);
    } else if (name == "--seconds") {
      options.seconds = std::atof(argv[i + 1]);
    } else if (name == "--server") {
      options.server = std::filesystem::absolute(argv[i + 1]);
    } else if (name == "--dir") {
      options.directory = std::filesystem::absolute(argv[i + 1]);
    } else {
      Die("unknown option " + std::string(name));
    }
  }
  if (options.scale <= 0 || options.seconds <= 0) Die("scale and seconds are above 0");
  return options;
}

}  // namespace
}  // namespace tally::bench

int main(int argc, char** argv) {
  tally::bench::Bench(tally::bench::ParseOptions(argc, argv)).Run();
  return 0;
}
