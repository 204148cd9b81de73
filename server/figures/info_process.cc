// INFO's sections about the process: server, clients, memory, cpu.
#include <absl/strings/str_format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/config/directive.h"
#include "server/config/version.h"
#include "server/figures/info_rows.h"
#include "server/interfaces/process.h"
#include "server/memory/memory_usage.h"
#include "server/script/script_engine.h"
#include "server/state/blocked_clients.h"
#include "server/state/client_table.h"
#include "server/state/client_text.h"
#include "server/state/clock.h"
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
void AddScriptRows(const ScriptEngine* scripts, InfoRows& rows) {
  const size_t machine = scripts != nullptr ? scripts->memory_usage() : 0;
  const size_t names = scripts != nullptr ? scripts->index_bytes() : 0;
  rows.Bytes("used_memory_lua", machine);
  rows.Row("used_memory_vm_eval", machine);
  rows.Row("used_memory_scripts_eval", names);
  rows.Row("number_of_cached_scripts", scripts != nullptr ? scripts->size() : 0);
  rows.Row("number_of_functions", 0);
  rows.Row("number_of_libraries", 0);
  rows.Row("used_memory_vm_functions", 0);
  rows.Bytes("used_memory_vm_total", machine);
  rows.Row("used_memory_functions", 0);
  rows.Bytes("used_memory_scripts", names);
}

}  // namespace

void AddServerRows(const Services& server, InfoRows& rows) {
  const int64_t now_ms = server.clock.now_ms();
  const int64_t uptime_s = std::max<int64_t>((now_ms - server.process->started_ms()) / 1000, 0);
  rows.Row("redis_version", kRedisVersion);
  rows.Row("tallyd_version", kTallydVersion);
  rows.Row("redis_git_sha1", "00000000");
  rows.Row("redis_git_dirty", 0);
  rows.Row("redis_build_id", "0");
  rows.Row("redis_mode", "standalone");
  rows.Row("os", OperatingSystem());
  rows.Row("arch_bits", 8 * sizeof(void*));
  rows.Row("monotonic_clock", "POSIX clock_gettime");
  rows.Row("multiplexing_api", "epoll");
  rows.Row("gcc_version", StrCat(__GNUC__, '.', __GNUC_MINOR__, '.', __GNUC_PATCHLEVEL__));
  rows.Row("process_id", ::getpid());
  rows.Row("process_supervised", "no");
  rows.Row("run_id", server.run_id);
  rows.Row("tcp_port", server.config.port);
  rows.Row("server_time_usec", server.clock.now_us());
  const Clock::Jumps& jumps = server.clock.jumps();
  rows.Row("clock_jumps", jumps.count);
  rows.Row("clock_last_jump_ms", jumps.last_ms);
  rows.Row("clock_last_jump_at_ms", jumps.last_at_ms);
  rows.Row("uptime_in_seconds", uptime_s);
  rows.Row("uptime_in_days", uptime_s / 86400);
  rows.Row("hz", server.config.hz);
  rows.Row("configured_hz", server.config.hz);
  rows.Row("lru_clock", (now_ms / 1000) & 0xFFFFFF);
  rows.Row("executable", Executable());
  rows.Row("config_file", server.config_path);
  rows.Row("io_threads_active", 0);
}

void AddClientsRows(const Services& server, InfoRows& rows) {
  size_t input = 0;
  size_t output = 0;
  size_t postponed = 0;
  server.clients.ForEach([&](const Client& client) {
    input = std::max(input, client.query_bytes);
    output = std::max(output, ListedOutput(client));
    postponed += client.state.command.postponed() ? 1 : 0;
  });
  rows.Row("connected_clients", server.clients.size());
  rows.Row("cluster_connections", 0);
  rows.Row("maxclients", server.config.maxclients);
  rows.Row("client_recent_max_input_buffer", input);
  rows.Row("client_recent_max_output_buffer", output);
  rows.Row("blocked_clients", postponed + server.blocked.clients());
  rows.Row("tracking_clients", server.tracking.clients());
  rows.Row("clients_in_timeout_table", server.blocked.with_deadline());
}

void AddMemoryRows(const Services& server, InfoRows& rows) {
  const size_t used = server.memory.Sample();
  const size_t peak = server.memory.peak();
  const size_t startup = server.memory.startup();
  const size_t rss = ReadResidentBytes();
  const AllocatorUsage allocator = ReadAllocatorUsage();
  size_t clients = 0;
  server.clients.ForEach([&](const Client& client) { clients += ClientMemory(client); });
  const size_t overhead = std::min(startup + clients, used);
  const auto more = [](size_t a, size_t b) {
    return static_cast<int64_t>(a) - static_cast<int64_t>(b);
  };
  const auto real = [](size_t value) { return static_cast<double>(value); };

  rows.Bytes("used_memory", used);
  rows.Bytes("used_memory_rss", rss);
  rows.Bytes("used_memory_peak", peak);
  rows.Percent("used_memory_peak_perc", real(used), real(peak));
  rows.Row("used_memory_overhead", overhead);
  rows.Row("used_memory_startup", startup);
  rows.Row("used_memory_dataset", used - overhead);
  rows.Percent("used_memory_dataset_perc", real(used - overhead),
               real(used - std::min(startup, used)));
  rows.Row("allocator_allocated", allocator.allocated);
  rows.Row("allocator_active", allocator.active);
  rows.Row("allocator_resident", allocator.resident);
  rows.Bytes("total_system_memory", SystemMemoryBytes());
  AddScriptRows(server.scripts.get(), rows);
  rows.Bytes("maxmemory", static_cast<size_t>(server.config.maxmemory));
  rows.Row("maxmemory_policy", FormatValue(*FindDirective("maxmemory-policy"), server.config));
  rows.Ratio("allocator_frag_ratio", real(allocator.active), real(allocator.allocated));
  rows.Row("allocator_frag_bytes", more(allocator.active, allocator.allocated));
  rows.Ratio("allocator_rss_ratio", real(allocator.resident), real(allocator.active));
  rows.Row("allocator_rss_bytes", more(allocator.resident, allocator.active));
  rows.Ratio("rss_overhead_ratio", real(rss), real(allocator.resident));
  rows.Row("rss_overhead_bytes", more(rss, allocator.resident));
  rows.Ratio("mem_fragmentation_ratio", real(rss), real(used));
  rows.Row("mem_fragmentation_bytes", more(rss, used));
  rows.Row("mem_not_counted_for_evict", 0);
  rows.Row("mem_replication_backlog", 0);
  rows.Row("mem_clients_slaves", 0);
  rows.Row("mem_clients_normal", clients);
  rows.Row("mem_allocator", AllocatorName());
  rows.Row("active_defrag_running", 0);
  rows.Row("lazyfree_pending_objects", server.engine.reclaimer().pending());
  rows.Row("lazyfreed_objects", server.engine.reclaimer().freed());
}

void AddCpuRows(const Services&, InfoRows& rows) {
  rusage self{};
  rusage children{};
  rusage thread{};
  ::getrusage(RUSAGE_SELF, &self);
  ::getrusage(RUSAGE_CHILDREN, &children);
  ::getrusage(RUSAGE_THREAD, &thread);
  rows.Row("used_cpu_sys", Seconds(self.ru_stime));
  rows.Row("used_cpu_user", Seconds(self.ru_utime));
  rows.Row("used_cpu_sys_children", Seconds(children.ru_stime));
  rows.Row("used_cpu_user_children", Seconds(children.ru_utime));
  rows.Row("used_cpu_sys_main_thread", Seconds(thread.ru_stime));
  rows.Row("used_cpu_user_main_thread", Seconds(thread.ru_utime));
}

}  // namespace tally::server
