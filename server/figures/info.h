// The text of INFO: sections of "name:value" rows, each under a "# Section" line.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/figures/figure_sink.h"
#include "server/interfaces/services.h"

namespace tally::server {

// Appends the rows of what it gets.
class InfoText : public FigureSink {
 public:
  explicit InfoText(std::string& text) : text_(text) {}
  bool shows_rows() const override { return true; }

 private:
  void Put(std::string_view row, const FigureValue& value, const ShownAs& also) override;

  std::string& text_;
};

// Returns the sections that `words` name, in any case, each once and in the order of INFO. No words
// mean "default"; "all" and "everything" mean every section. Unknown names give nothing.
std::string RenderInfo(const Services& server, Args words);

}  // namespace tally::server
