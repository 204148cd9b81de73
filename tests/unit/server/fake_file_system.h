// A file system in memory for fault and crash tests: any call can fail, write short or be the last
// before a crash, and a power loss keeps, drops or tears what was not synced.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "diced_worker.h"
#include "random_seed.h"
#include "server/aof/background_thread.h"
#include "server/aof/file_system.h"

namespace tally::test {

class FakeFileSystem final : public server::FileSystem {
 public:
  enum class Fault {
    kNone,
    kIoError,     // EIO, nothing happens
    kNoSpace,     // ENOSPC, nothing happens
    kShortWrite,  // half of a write happens, and is reported
    kTornWrite,   // half of a write happens, and an error is reported; as kIoError elsewhere
    kCrash,       // this call and all after it do nothing and fail, until Restart
  };
  enum class Loss {
    kProcessOnly,  // a killed process: all that was written stays
    kDrop,         // what was not synced is gone
    kTear,         // a random part of it: prefixes of files, whole directory changes
    kReorder,      // any sectors of it, the rest zeros; any directory changes
  };

  // Calls that can fail or change something so far: everything but reads, lists and sizes.
  uint64_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Faults the n-th such call from now (0: the next), and `repeat` - 1 more after it.
  void FailAfter(uint64_t n, Fault fault, uint64_t repeat = 1) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    first_fault_ = calls_ + n;
    end_fault_ = first_fault_ + repeat;
  }
  void StopFaults() {
    FailAfter(0, Fault::kNone);
    dice_ = nullptr;
  }
  // From now on about one call in `one_in` begins a fault of one to eight calls, one in seven of
  // them a crash. Until StopFaults, which also ends this.
  void FailAtRandom(SeededRandom& random, uint64_t one_in) {
    dice_ = &random;
    one_in_ = one_in;
  }
  // The disk has room for this many bytes more; SIZE_MAX for any number.
  void LeaveRoom(size_t bytes) {
    const std::lock_guard lock(mutex_);
    capacity_ = bytes == SIZE_MAX ? SIZE_MAX : UsedBytes() + bytes;
  }
  // Workers from now on have no threads; see DicedWorker.
  void UseDicedWorkers(SeededRandom& random, std::function<void(int64_t us)> on_wait) {
    worker_dice_ = &random;
    on_wait_ = std::move(on_wait);
  }
  std::unique_ptr<server::BackgroundWorker> NewWorker() override {
    if (worker_dice_ == nullptr) return std::make_unique<server::BackgroundThread>();
    return std::make_unique<DicedWorker>(*worker_dice_, on_wait_);
  }
  // Called without the lock in each File::Sync, before it does anything: to make it slow.
  void OnSync(std::function<void()> hook) { on_sync_ = std::move(hook); }
  // The same in each OpenForRead.
  void OnOpen(std::function<void(const std::string& path)> hook) { on_open_ = std::move(hook); }
  // The same in each File::Append.
  void OnAppend(std::function<void()> hook) { on_append_ = std::move(hook); }
  bool crashed() const {
    const std::lock_guard lock(mutex_);
    return crashed_;
  }

  // What the next process finds. Files of the last process must be closed or never used again.
  void Restart(Loss loss, SeededRandom& random) {
    const std::lock_guard lock(mutex_);
    crashed_ = false;
    fault_ = Fault::kNone;
    if (loss == Loss::kProcessOnly) return;
    for (const auto& [name, inode] : entries_) LoseContent(*inode, loss, random);
    for (const auto& [name, inode] : durable_entries_) LoseContent(*inode, loss, random);
    std::set<std::string> names;
    for (const auto& [name, inode] : entries_) names.insert(name);
    for (const auto& [name, inode] : durable_entries_) names.insert(name);
    const bool all = random.OneIn(2);
    std::map<std::string, std::shared_ptr<Inode>> next;
    std::map<std::string, bool> kept;
    for (const std::string& name : names) {
      const bool newer = loss == Loss::kTear
                             ? all
                             : loss == Loss::kReorder &&
                                   kept.try_emplace(MovedWith(name), random.OneIn(2)).first->second;
      const auto& source = newer ? entries_ : durable_entries_;
      if (const auto found = source.find(name); found != source.end()) next.insert(*found);
    }
    entries_ = durable_entries_ = std::move(next);
    moved_directories_.clear();
    for (const auto& [name, inode] : entries_) {
      inode->durable = inode->content;
      inode->dirty.clear();
    }
  }

  // For tests: contents as a reader sees them now.
  std::map<std::string, std::string> Contents() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> contents;
    for (const auto& [name, inode] : entries_) contents[name] = inode->content;
    return contents;
  }
  // The bytes in front of a file that have been dropped by File::DropCached, a piece at a time.
  uint64_t Dropped(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return entries_.at(path)->dropped;
  }
  // The bytes in front of a file of File::WriteBack, a piece at a time.
  uint64_t WrittenBack(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return entries_.at(path)->written_back;
  }
  // Puts a file there, synced.
  void Put(const std::string& path, const std::string& content) {
    const std::lock_guard lock(mutex_);
    auto inode = std::make_shared<Inode>();
    inode->content = inode->durable = content;
    entries_[path] = durable_entries_[path] = inode;
  }

  absl::StatusOr<std::unique_ptr<server::File>> OpenForRead(const std::string& path) override {
    // A copy, because the hook may set another one.
    if (const auto hook = on_open_) hook(path);
    return Open(path);
  }
  absl::StatusOr<std::unique_ptr<server::File>> OpenForAppend(const std::string& path) override {
    return Open(path);
  }
  absl::StatusOr<std::unique_ptr<server::File>> Create(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (const absl::Status status = Enter("create", path); !status.ok()) return status;
    auto& inode = entries_[path];
    if (inode == nullptr) {
      inode = std::make_shared<Inode>();
    } else {
      Resize(*inode, 0);
    }
    return std::make_unique<FakeFile>(*this, inode, path);
  }
  absl::StatusOr<std::unique_ptr<server::File>> Lock(const std::string& path) override {
    return std::make_unique<FakeFile>(*this, std::make_shared<Inode>(), path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    if (const absl::Status status = Enter("rename", from); !status.ok()) return status;
    // A directory is the files in it.
    std::map<std::string, std::shared_ptr<Inode>> moved;
    std::erase_if(entries_, [&](const auto& entry) {
      const auto& [name, inode] = entry;
      if (name != from && !name.starts_with(from + "/")) return false;
      moved[to + name.substr(from.size())] = inode;
      return true;
    });
    if (moved.empty()) return absl::NotFoundError(from);
    if (!moved.contains(to)) moved_directories_.emplace_back(from, to);
    for (auto& [name, inode] : moved) entries_[name] = std::move(inode);
    return absl::OkStatus();
  }
  absl::Status Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (const absl::Status status = Enter("remove", path); !status.ok()) return status;
    return entries_.erase(path) == 1 ? absl::OkStatus() : absl::NotFoundError(path);
  }
  absl::Status CreateDirectory(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return Enter("create directory", path);
  }
  absl::Status SyncDirectory(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (const absl::Status status = Enter("sync directory", path); !status.ok()) return status;
    durable_entries_ = entries_;
    moved_directories_.clear();
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> names;
    for (const auto& [name, inode] : entries_) {
      if (!name.starts_with(path + "/")) continue;
      const size_t begin = path.size() + 1;
      names.insert(name.substr(begin, name.find('/', begin) - begin));
    }
    return std::vector<std::string>(names.begin(), names.end());
  }

 private:
  static constexpr size_t kSector = 512;

  struct Inode {
    std::string content;        // what reads see
    std::string durable;        // what a power loss leaves for certain
    std::set<size_t> dirty;     // sectors that the next Sync makes durable
    uint64_t dropped = 0;       // bytes in front that are not cached
    uint64_t written_back = 0;  // bytes in front that the disk was asked to take
  };

  class FakeFile final : public server::File {
   public:
    FakeFile(FakeFileSystem& system, std::shared_ptr<Inode> inode, std::string path)
        : system_(system), inode_(std::move(inode)), path_(std::move(path)) {}

    const std::string& path() const override { return path_; }

    absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<char> out) override {
      const std::lock_guard lock(system_.mutex_);
      if (offset >= inode_->content.size()) return size_t{0};
      return inode_->content.copy(out.data(), out.size(), offset);
    }

    absl::StatusOr<size_t> Append(std::string_view bytes) override {
      if (system_.on_append_) system_.on_append_();
      const std::lock_guard lock(system_.mutex_);
      Fault fault = Fault::kNone;
      const absl::Status status = system_.Enter("write", path_, &fault);
      if (fault == Fault::kShortWrite) bytes = bytes.substr(0, (bytes.size() + 1) / 2);
      if (fault == Fault::kTornWrite) bytes = bytes.substr(0, bytes.size() / 2);
      if (status.ok()) bytes = bytes.substr(0, system_.RoomFor(bytes.size()));
      if (status.ok() && bytes.empty()) return NoSpace("write", path_);
      if (status.ok() || fault == Fault::kTornWrite) {
        const size_t start = inode_->content.size();
        inode_->content.append(bytes);
        MarkDirty(*inode_, start, inode_->content.size());
      }
      if (!status.ok()) return status;
      return bytes.size();
    }

    absl::StatusOr<size_t> Overwrite(uint64_t offset, std::string_view bytes) override {
      const std::lock_guard lock(system_.mutex_);
      Fault fault = Fault::kNone;
      const absl::Status status = system_.Enter("write", path_, &fault);
      if (!status.ok()) return status;
      if (fault == Fault::kShortWrite) bytes = bytes.substr(0, (bytes.size() + 1) / 2);
      Check(offset + bytes.size() <= inode_->content.size(),
            "bytes that are there are overwritten");
      inode_->content.replace(offset, bytes.size(), bytes);
      MarkDirty(*inode_, offset, offset + bytes.size());
      return bytes.size();
    }

    absl::Status Sync() override {
      if (system_.on_sync_) system_.on_sync_();
      const std::lock_guard lock(system_.mutex_);
      const absl::Status status = system_.Enter("fdatasync", path_);
      if (status.ok()) {
        inode_->durable.resize(inode_->content.size(), '\0');
        for (const size_t sector : inode_->dirty) CopySector(*inode_, sector);
      }
      // As Linux does: pages whose writing failed are clean afterwards, and never written again.
      if (!system_.crashed_) inode_->dirty.clear();
      return status;
    }

    void WriteBack(uint64_t from, uint64_t to) override {
      const std::lock_guard lock(system_.mutex_);
      if (from <= inode_->written_back) inode_->written_back = std::max(inode_->written_back, to);
    }

    void DropCached(uint64_t from, uint64_t to) override {
      const std::lock_guard lock(system_.mutex_);
      if (from <= inode_->dropped) inode_->dropped = std::max(inode_->dropped, to);
    }

    void ReadAhead(uint64_t, uint64_t) override {}

    absl::Status Truncate(uint64_t size) override {
      const std::lock_guard lock(system_.mutex_);
      if (const absl::Status status = system_.Enter("truncate", path_); !status.ok()) return status;
      Resize(*inode_, size);
      return absl::OkStatus();
    }

    absl::StatusOr<uint64_t> Size() override {
      const std::lock_guard lock(system_.mutex_);
      return inode_->content.size();
    }

   private:
    FakeFileSystem& system_;
    std::shared_ptr<Inode> inode_;
    std::string path_;
  };

  absl::StatusOr<std::unique_ptr<server::File>> Open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(path);
    if (found == entries_.end()) return absl::NotFoundError(path);
    return std::make_unique<FakeFile>(*this, found->second, path);
  }

  static absl::Status NoSpace(const char* call, const std::string& path) {
    return absl::ResourceExhaustedError(absl::StrCat(call, " ", path, ": no space"));
  }
  size_t UsedBytes() const {
    size_t used = 0;
    for (const auto& [name, inode] : entries_) used += inode->content.size();
    return used;
  }
  // How many of `bytes` are written: at a full disk the last write is short.
  size_t RoomFor(size_t bytes) const {
    if (capacity_ == SIZE_MAX) return bytes;
    const size_t used = UsedBytes();
    return std::min(bytes, capacity_ > used ? capacity_ - used : 0);
  }

  // Counts the call and decides its fate.
  absl::Status Enter(const char* call, const std::string& path, Fault* applied = nullptr) {
    if (crashed_) return absl::AbortedError("crashed");
    if (dice_ != nullptr && calls_ >= end_fault_ && dice_->OneIn(one_in_)) {
      constexpr Fault kFaults[] = {Fault::kIoError, Fault::kIoError,   Fault::kNoSpace,
                                   Fault::kNoSpace, Fault::kTornWrite, Fault::kShortWrite,
                                   Fault::kCrash};
      fault_ = kFaults[dice_->Below(std::size(kFaults))];
      first_fault_ = calls_;
      end_fault_ = calls_ + 1 + dice_->Below(8);
    }
    const bool faulted = calls_ >= first_fault_ && calls_ < end_fault_;
    ++calls_;
    if (!faulted || fault_ == Fault::kNone) return absl::OkStatus();
    if (applied != nullptr) *applied = fault_;
    switch (fault_) {
      case Fault::kShortWrite:
        return absl::OkStatus();
      case Fault::kNoSpace:
        return NoSpace(call, path);
      case Fault::kCrash:
        crashed_ = true;
        return absl::AbortedError("crashed");
      default:
        return absl::UnknownError(absl::StrCat(call, " ", path, ": I/O error"));
    }
  }

  static void MarkDirty(Inode& inode, size_t from, size_t to) {
    for (size_t sector = from / kSector; sector * kSector < to; ++sector) {
      inode.dirty.insert(inode.dirty.end(), sector);
    }
  }
  static void Resize(Inode& inode, size_t size) {
    const size_t old = inode.content.size();
    inode.content.resize(size, '\0');
    MarkDirty(inode, std::min(old, size), std::max(old, size));
  }
  // Carries one sector over to the durable content, which has its length already.
  static void CopySector(Inode& inode, size_t sector) {
    const size_t end =
        std::min({(sector + 1) * kSector, inode.content.size(), inode.durable.size()});
    const size_t begin = sector * kSector;
    if (begin < end) std::copy_n(inode.content.data() + begin, end - begin, &inode.durable[begin]);
  }

  static void LoseContent(Inode& inode, Loss loss, SeededRandom& random) {
    if (loss == Loss::kTear && inode.content.size() > inode.durable.size()) {
      const size_t kept = random.Below(inode.content.size() - inode.durable.size() + 1);
      const size_t start = inode.durable.size();
      inode.durable.append(inode.content, start, kept);
    } else if (loss == Loss::kReorder && !inode.dirty.empty()) {
      if (random.OneIn(2)) inode.durable.resize(inode.content.size(), '\0');
      for (const size_t sector : inode.dirty) {
        if (random.OneIn(2)) CopySector(inode, sector);
      }
    }
    inode.content = inode.durable;
    inode.dirty.clear();
  }

  // The directory that the file was moved with, or else the file: a directory moves as a whole.
  std::string MovedWith(const std::string& name) const {
    for (const auto& [from, to] : moved_directories_) {
      if (name.starts_with(from + "/") || name.starts_with(to + "/")) return to + "/";
    }
    return name;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Inode>> entries_;
  std::vector<std::pair<std::string, std::string>> moved_directories_;  // since they were synced
  std::map<std::string, std::shared_ptr<Inode>> durable_entries_;
  size_t capacity_ = SIZE_MAX;
  uint64_t calls_ = 0;
  uint64_t first_fault_ = 0;
  uint64_t end_fault_ = 0;
  Fault fault_ = Fault::kNone;
  bool crashed_ = false;
  std::function<void()> on_sync_;
  std::function<void()> on_append_;
  std::function<void(const std::string& path)> on_open_;
  SeededRandom* dice_ = nullptr;
  uint64_t one_in_ = 0;
  SeededRandom* worker_dice_ = nullptr;
  std::function<void(int64_t us)> on_wait_;
};

}  // namespace tally::test
