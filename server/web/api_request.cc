#include "server/web/api_request.h"

#include <absl/strings/escaping.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr char kForm[] =
    "the body must be a JSON array, [\"COMMAND\", argument, …], or an array of such arrays";

}  // namespace

// Receives the values of the JSON text one after the other (SAX). A function that returns false
// ends the parsing.
class ApiRequest::Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(ApiRequest& request) : request_(request) {}

  std::string error;

  bool null() override { return Fail("null is no word of a command"); }
  bool boolean(bool value) override { return Word(value ? "1" : "0"); }
  bool number_integer(number_integer_t value) override { return Word(StrCat(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Word(StrCat(value)); }
  bool number_float(number_float_t, const string_t& text) override { return Word(text); }
  bool string(string_t& value) override { return in_object_ ? Base64(value) : Word(value); }
  bool binary(binary_t&) override { return Fail(kForm); }

  bool start_array(size_t) override {
    if (in_object_ || depth_ == 2) return Fail(kForm);
    if (++depth_ == 2 && !request_.is_batch_) {
      // Only the first element can make the body a batch.
      if (!request_.ends_.empty()) return Fail(kForm);
      request_.is_batch_ = true;
      request_.first_words_.clear();
    }
    request_.first_words_.push_back(request_.ends_.size());
    return Count();
  }
  bool end_array() override {
    --depth_;
    return request_.first_words_.back() < request_.ends_.size() ? true
                                                                : Fail("a command has no words");
  }
  bool start_object(size_t) override {
    if (!InCommand()) return Fail(kForm);
    in_object_ = true;
    has_value_ = false;
    return Count();
  }
  bool key(string_t& name) override {
    return name == "base64" && !has_value_ ? true : Fail("an object is {\"base64\": \"…\"}");
  }
  bool end_object() override {
    in_object_ = false;
    return has_value_ ? true : Fail("an object is {\"base64\": \"…\"}");
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Fail(StrCat("the body is no JSON: see byte ", position));
  }

 private:
  // Whether a word may come here.
  bool InCommand() const { return !in_object_ && depth_ == (request_.is_batch_ ? 2 : 1); }
  bool Count() {
    return ++elements_ <= kMaxElements ? true : Fail("the body has more than 100000 elements");
  }
  bool Word(std::string_view word) {
    if (!InCommand()) return Fail(kForm);
    Add(word);
    return Count();
  }
  void Add(std::string_view word) {
    request_.bytes_ += word;
    request_.ends_.push_back(request_.bytes_.size());
  }
  bool Base64(const std::string& text) {
    std::string bytes;
    if (!absl::Base64Unescape(text, &bytes)) return Fail("base64 that is none");
    has_value_ = true;
    Add(bytes);
    return true;
  }
  bool Fail(std::string_view text) {
    error = text;
    return false;
  }

  ApiRequest& request_;
  int depth_ = 0;  // open arrays
  size_t elements_ = 0;
  bool in_object_ = false;
  bool has_value_ = false;  // the object has its "base64" member
};

std::string ApiRequest::Parse(std::string_view body) {
  *this = ApiRequest();
  Builder builder(*this);
  const bool parsed = nlohmann::json::sax_parse(body.begin(), body.end(), &builder);
  if (!parsed && builder.error.empty()) builder.error = kForm;
  return std::move(builder.error);
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
