#include "server/figures/info.h"

#include <absl/strings/match.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/figures/figure_list.h"

namespace tally::server {
namespace {

// Whether INFO with this word shows the section.
bool Chooses(std::string_view word, const FigureSection& section) {
  const auto is = [&](std::string_view name) {
    return absl::EqualsIgnoreCase({word.data(), word.size()}, {name.data(), name.size()});
  };
  return is("all") || is("everything") || (section.by_default && is("default")) ||
         is(section.title);
}

}  // namespace

void InfoText::Put(std::string_view row, const FigureValue& value, const ShownAs&) {
  if (row.empty()) return;
  StrAppend(text_, row, ':');
  if (const auto* number = std::get_if<int64_t>(&value)) StrAppend(text_, *number);
  if (const auto* real = std::get_if<double>(&value)) absl::StrAppendFormat(&text_, "%.2f", *real);
  if (const auto* text = std::get_if<std::string_view>(&value)) text_ += *text;
  if (const auto* micros = std::get_if<Micros>(&value)) StrAppend(text_, micros->count);
  text_ += "\r\n";
}

std::string RenderInfo(const Services& server, Args words) {
  constexpr std::string_view kDefault[] = {"default"};
  if (words.empty()) words = kDefault;
  std::string text;
  InfoText rows(text);
  for (const FigureSection& section : FigureSections()) {
    const auto chooses = [&](std::string_view word) { return Chooses(word, section); };
    if (std::none_of(words.begin(), words.end(), chooses)) continue;
    StrAppend(text, text.empty() ? "# " : "\r\n# ", section.title, "\r\n");
    section.report(server, rows);
  }
  return text;
}

}  // namespace tally::server
