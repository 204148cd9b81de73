// Figures of the process: server, clients, memory, cpu.
#include <absl/strings/str_format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/config/directive.h"
#include "server/config/version.h"
#include "server/figures/figure_list.h"
#include "server/interfaces/process.h"
#include "server/memory/memory_usage.h"
#include "server/script/script_engine.h"
#include "server/state/blocked_clients.h"
#include "server/state/client_table.h"
#include "server/state/client_text.h"
#include "server/state/clock.h"
#include "server/state/hot_keys.h"
#include "server/state/key_tracking.h"

namespace tally::server {
namespace {

std::string OperatingSystem() {
  utsname name{};
  if (::uname(&name) != 0) return "unknown";
  return StrCat(std::string_view(name.sysname), ' ', std::string_view(name.release), ' ',
                std::string_view(name.machine));
}

std::string Executable() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : path.string();
}

std::string Seconds(const timeval& time) {
  return absl::StrFormat("%d.%06d", time.tv_sec, time.tv_usec);
}

// There are no functions. `scripts` is null before the first script.
void ReportScripts(const ScriptEngine* scripts, FigureSink& figures) {
  const size_t machine = scripts != nullptr ? scripts->memory_usage() : 0;
  const size_t names = scripts != nullptr ? scripts->index_bytes() : 0;
  figures.AddBytes("used_memory_lua", machine);
  figures.Add("used_memory_vm_eval", machine);
  figures.Add("used_memory_scripts_eval", names);
  figures.Add("number_of_cached_scripts", scripts != nullptr ? scripts->size() : 0);
  figures.Add("number_of_functions", 0);
  figures.Add("number_of_libraries", 0);
  figures.Add("used_memory_vm_functions", 0);
  figures.AddBytes("used_memory_vm_total", machine);
  figures.Add("used_memory_functions", 0);
  figures.AddBytes("used_memory_scripts", names);
}

// Parts of what is in use that are known exactly.
void ReportParts(const Services& server, FigureSink& figures) {
  size_t tables = 0;
  for (size_t i = 0; i < server.engine.databases(); ++i) {
    tables += server.engine.database(i).table_bytes();
  }
  figures.Add("", tables, {.metric = "memory_part_bytes", .labels = {"keys"}});
  figures.Add("", server.hot_keys.MemoryBytes(),
              {.metric = "memory_part_bytes", .labels = {"hot_keys"}});
}

}  // namespace

void ReportServer(const Services& server, FigureSink& figures) {
  const int64_t now_ms = server.clock.now_ms();
  const int64_t uptime_s = std::max<int64_t>((now_ms - server.process->started_ms()) / 1000, 0);
  figures.Add("redis_version", kRedisVersion);
  figures.Add("tallyd_version", kTallydVersion, {.json = "version"});
  figures.Add("", 1, {.metric = "build_info", .labels = {kTallydVersion, kRedisVersion}});
  figures.Add("redis_git_sha1", "00000000");
  figures.Add("redis_git_dirty", 0);
  figures.Add("redis_build_id", "0");
  figures.Add("redis_mode", "standalone");
  figures.Add("os", OperatingSystem());
  figures.Add("arch_bits", 8 * sizeof(void*));
  figures.Add("monotonic_clock", "POSIX clock_gettime");
  figures.Add("multiplexing_api", "epoll");
  figures.Add("gcc_version", StrCat(__GNUC__, '.', __GNUC_MINOR__, '.', __GNUC_PATCHLEVEL__));
  figures.Add("process_id", ::getpid());
  figures.Add("process_supervised", "no");
  figures.Add("run_id", server.run_id, {.json = "run_id"});
  figures.Add("tcp_port", server.config.port);
  figures.Add("server_time_usec", server.clock.now_us());
  const Clock::Jumps& jumps = server.clock.jumps();
  figures.Add("clock_jumps", jumps.count, {.metric = "clock_jumps"});
  figures.Add("clock_last_jump_ms", jumps.last_ms);
  figures.Add("clock_last_jump_at_ms", jumps.last_at_ms);
  figures.Add("uptime_in_seconds", uptime_s, {.metric = "uptime_seconds", .json = "uptime_s"});
  figures.Add("uptime_in_days", uptime_s / 86400);
  figures.Add("hz", server.config.hz);
  figures.Add("configured_hz", server.config.hz);
  figures.Add("lru_clock", (now_ms / 1000) & 0xFFFFFF);
  figures.Add("executable", Executable());
  figures.Add("config_file", server.config_path);
  figures.Add("io_threads_active", 0);
  figures.Add("", server.loading, {.metric = "loading"});
}

void ReportClients(const Services& server, FigureSink& figures) {
  figures.Add("connected_clients", server.clients.size(), {.metric = "clients", .json = "clients"});
  figures.Add("cluster_connections", 0);
  figures.Add("maxclients", server.config.maxclients, {.metric = "clients_limit"});
  if (!figures.shows_rows()) return;
  size_t input = 0;
  size_t output = 0;
  size_t postponed = 0;
  server.clients.ForEach([&](const Client& client) {
    input = std::max(input, client.query_bytes);
    output = std::max(output, ListedOutput(client));
    postponed += client.state.command.postponed() ? 1 : 0;
  });
  figures.Add("client_recent_max_input_buffer", input);
  figures.Add("client_recent_max_output_buffer", output);
  figures.Add("blocked_clients", postponed + server.blocked.clients());
  figures.Add("tracking_clients", server.tracking.clients());
  figures.Add("clients_in_timeout_table", server.blocked.with_deadline());
}

void ReportMemory(const Services& server, FigureSink& figures) {
  const size_t used = server.memory.Sample();
  const size_t peak = server.memory.peak();
  const size_t startup = server.memory.startup();
  const size_t rss = ReadResidentBytes();
  const AllocatorUsage allocator = ReadAllocatorUsage();
  size_t clients = 0;
  if (figures.shows_rows()) {
    server.clients.ForEach([&](const Client& client) { clients += ClientMemory(client); });
  }
  const size_t overhead = std::min(startup + clients, used);
  const auto more = [](size_t a, size_t b) {
    return static_cast<int64_t>(a) - static_cast<int64_t>(b);
  };
  const auto real = [](size_t value) { return static_cast<double>(value); };

  figures.AddBytes("used_memory", used, {.metric = "memory_used_bytes", .json = "memory.used"});
  figures.AddBytes("used_memory_rss", rss,
                   {.metric = "memory_resident_bytes", .json = "memory.resident"});
  figures.AddBytes("used_memory_peak", peak,
                   {.metric = "memory_peak_bytes", .json = "memory.peak"});
  figures.AddPercent("used_memory_peak_perc", real(used), real(peak));
  figures.Add("used_memory_overhead", overhead);
  figures.Add("used_memory_startup", startup,
              {.metric = "memory_part_bytes", .labels = {"startup"}});
  ReportParts(server, figures);
  figures.Add("used_memory_dataset", used - overhead);
  figures.AddPercent("used_memory_dataset_perc", real(used - overhead),
                     real(used - std::min(startup, used)));
  figures.Add("allocator_allocated", allocator.allocated,
              {.metric = "memory_allocator_bytes", .labels = {"allocated"}});
  figures.Add("allocator_active", allocator.active,
              {.metric = "memory_allocator_bytes", .labels = {"active"}});
  figures.Add("allocator_resident", allocator.resident,
              {.metric = "memory_allocator_bytes", .labels = {"resident"}});
  figures.AddBytes("total_system_memory", SystemMemoryBytes());
  ReportScripts(server.scripts.get(), figures);
  figures.AddBytes("maxmemory", static_cast<size_t>(server.config.maxmemory),
                   {.metric = "memory_limit_bytes", .json = "memory.limit"});
  figures.Add("maxmemory_policy", FormatValue(*FindDirective("maxmemory-policy"), server.config));
  figures.AddRatio("allocator_frag_ratio", real(allocator.active), real(allocator.allocated));
  figures.Add("allocator_frag_bytes", more(allocator.active, allocator.allocated));
  figures.AddRatio("allocator_rss_ratio", real(allocator.resident), real(allocator.active));
  figures.Add("allocator_rss_bytes", more(allocator.resident, allocator.active));
  figures.AddRatio("rss_overhead_ratio", real(rss), real(allocator.resident));
  figures.Add("rss_overhead_bytes", more(rss, allocator.resident));
  figures.AddRatio("mem_fragmentation_ratio", real(rss), real(used));
  figures.Add("mem_fragmentation_bytes", more(rss, used));
  figures.Add("mem_not_counted_for_evict", 0);
  figures.Add("mem_replication_backlog", 0);
  figures.Add("mem_clients_slaves", 0);
  figures.Add("mem_clients_normal", clients);
  figures.Add("mem_allocator", AllocatorName());
  figures.Add("active_defrag_running", 0);
  figures.Add("lazyfree_pending_objects", server.engine.reclaimer().pending(),
              {.metric = "reclaim_pending_values"});
  figures.Add("lazyfreed_objects", server.engine.reclaimer().freed());
}

void ReportCpu(const Services&, FigureSink& figures) {
  rusage self{};
  rusage children{};
  rusage thread{};
  ::getrusage(RUSAGE_SELF, &self);
  ::getrusage(RUSAGE_CHILDREN, &children);
  ::getrusage(RUSAGE_THREAD, &thread);
  figures.Add("used_cpu_sys", Seconds(self.ru_stime));
  figures.Add("used_cpu_user", Seconds(self.ru_utime));
  figures.Add("used_cpu_sys_children", Seconds(children.ru_stime));
  figures.Add("used_cpu_user_children", Seconds(children.ru_utime));
  figures.Add("used_cpu_sys_main_thread", Seconds(thread.ru_stime));
  figures.Add("used_cpu_user_main_thread", Seconds(thread.ru_utime));
}

}  // namespace tally::server
