#include "server/web/api_request.h"

#include <absl/strings/escaping.h>

#include "core/bytes/str_cat.h"
#include "server/http/json_reader.h"
#include "server/http/json_text.h"

namespace tally::server {
namespace {

constexpr char kForm[] =
    "the body must be a JSON array, [\"COMMAND\", argument, …], or an array of such arrays";

}  // namespace

// Reads the tokens of a body. A function that returns false has set the error, and nothing may be
// read after it.
class ApiRequest::Parser {
 public:
  Parser(std::string_view body, ApiRequest& request) : reader_(body), request_(request) {}

  std::string error;

  bool ReadBody() {
    if (Next() != JsonToken::kArray) return Fail(kForm);
    request_.is_batch_ = Next() == JsonToken::kArray;
    if (!(request_.is_batch_ ? Count() && ReadCommands() : ReadWords())) return false;
    return Next() == JsonToken::kEnd ? true : FailToken();
  }

 private:
  JsonToken Next() { return token_ = reader_.Next(); }

  // Reads what separates two elements, and the first token of the next one. `more` becomes false at
  // the end of the array.
  bool ReadSeparator(bool& more) {
    more = Next() == JsonToken::kComma;
    if (more) Next();
    return more || token_ == JsonToken::kArrayEnd ? true : FailToken();
  }

  bool ReadCommands() {
    for (bool more = true; more;) {
      if (token_ != JsonToken::kArray) return Fail(kForm);
      Next();
      if (!ReadWords() || !ReadSeparator(more)) return false;
    }
    return true;
  }

  bool ReadWords() {
    if (!Count()) return false;
    if (token_ == JsonToken::kArrayEnd) return Fail("a command has no words");
    request_.first_words_.push_back(request_.ends_.size());
    for (bool more = true; more;) {
      if (!Count() || !ReadWord() || !ReadSeparator(more)) return false;
      // Only the first element can make the body a batch, and no array is in a command.
      if (more && token_ == JsonToken::kArray) return Fail(kForm);
    }
    return true;
  }

  bool ReadWord() {
    switch (token_) {
      case JsonToken::kString:
      case JsonToken::kNumber:
        return Add(reader_.text());
      case JsonToken::kTrue:
        return Add("1");
      case JsonToken::kFalse:
        return Add("0");
      case JsonToken::kNull:
        return Fail("null is no word of a command");
      case JsonToken::kObject:
        return ReadBase64();
      case JsonToken::kArray:
        return Fail(kForm);
      default:
        return FailToken();
    }
  }

  bool ReadBase64() {
    constexpr std::string_view kObject = "an object is {\"base64\": \"…\"}";
    const bool named = Next() == JsonToken::kString && reader_.text() == "base64" &&
                       Next() == JsonToken::kColon && Next() == JsonToken::kString;
    if (!named) return Fail(kObject);
    std::string bytes;
    if (!absl::Base64Unescape({reader_.text().data(), reader_.text().size()}, &bytes)) {
      return Fail("invalid base64");
    }
    return Next() == JsonToken::kObjectEnd ? Add(bytes) : Fail(kObject);
  }

  bool Add(std::string_view word) {
    request_.bytes_ += word;
    request_.ends_.push_back(request_.bytes_.size());
    return true;
  }
  bool Count() {
    return ++elements_ <= kMaxElements ? true : Fail("the body has more than 100000 elements");
  }
  bool FailToken() {
    return Fail(StrCat("the body is no JSON: see byte ", reader_.position() + 1));
  }
  bool Fail(std::string_view text) {
    error = text;
    return false;
  }

  JsonReader reader_;
  ApiRequest& request_;
  JsonToken token_ = JsonToken::kNone;
  size_t elements_ = 0;
};

std::string ApiRequest::Parse(std::string_view body) {
  *this = ApiRequest();
  if (!IsUtf8(body)) return "the body is no JSON: it is not UTF-8";
  Parser parser(body, *this);
  parser.ReadBody();
  return std::move(parser.error);
}

Args ApiRequest::Command(size_t index, std::vector<std::string_view>& args) const {
  const size_t first = first_words_[index];
  const size_t end = index + 1 < first_words_.size() ? first_words_[index + 1] : ends_.size();
  args.clear();
  for (size_t word = first; word < end; ++word) {
    const size_t begin = word == 0 ? 0 : ends_[word - 1];
    args.push_back(std::string_view(bytes_).substr(begin, ends_[word] - begin));
  }
  return args;
}

}  // namespace tally::server
