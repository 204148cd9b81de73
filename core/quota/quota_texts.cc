// The texts of a QuotaBook: SKUs and actions that are not integers.
#include <algorithm>

#include "core/quota/quota_book.h"

namespace tally {

int64_t QuotaBook::FindText(std::string_view text) const {
  return texts_ == nullptr ? 0 : texts_->Find(text);
}

BookActions QuotaBook::Find(const QuotaActions& actions) const {
  if (actions.all()) return {};
  std::vector<BookId> listed;
  for (const QuotaId& action : actions.listed()) listed.push_back(Find(action));
  return BookActions(std::move(listed));
}

TextDictionary& QuotaBook::Texts() {
  if (texts_ == nullptr) texts_ = std::make_unique<TextDictionary>(seed_);
  return *texts_;
}

void QuotaBook::BeforeTextChange(int64_t number) {
  const EntityKey key(number);
  const RecordTable& table = texts_->table();
  BeforeChange(table, table.Hash(key.view()), key.view());
}

BookId QuotaBook::FindOrAdd(const QuotaId& id) {
  const BookId known = Find(id);
  if (!known.is_text || known.value != 0) return known;
  const int64_t number = Texts().next_number();
  BeforeTextChange(number);
  return {texts_->Add(id.text()), true};
}

QuotaId QuotaBook::NameOf(BookId id) const {
  return id.is_text ? QuotaId::Text(texts_->TextOf(id.value)) : QuotaId(id.value);
}

void QuotaBook::SortByName(Ids& ids) const {
  const auto texts =
      std::find_if(ids.begin(), ids.end(), [](const BookId& id) { return id.is_text; });
  std::sort(texts, ids.end(),
            [this](const BookId& a, const BookId& b) { return NameOf(a) < NameOf(b); });
}

void QuotaBook::ChangeUses(const TextUses& uses) {
  if (uses.empty()) [[likely]]
    return;
  for (const auto& [number, by] : uses.changes()) {
    if (by == 0) continue;
    BeforeTextChange(number);
    texts_->ChangeUses(number, by);
  }
  // A snapshot still reads the tables that the book had when it began.
  if (texts_->empty() && snapshot_ == nullptr) texts_ = nullptr;
}

bool QuotaBook::UseLoaded(BookId id) {
  if (!id.is_text) return true;
  if (id.value < 1 || id.value > TextDictionary::kMaxNumber) return false;
  Texts().ChangeUses(id.value, 1);
  return true;
}

}  // namespace tally
