#include "server/web/page.h"

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/http/header_text.h"
#include "server/http/http_response.h"
#include "server/web/page/page_assets.h"

namespace tally::server {
namespace {

// Whether one of an item's parameters is a weight of zero, such as q=0.0, which refuses the item.
bool IsRefused(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = TakePart(parameters, ';');
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) continue;
    return parameter.find_first_not_of("0.", 2) == std::string_view::npos;
  }
  return false;
}

// Whether the list of a header has the item `word` and does not refuse it.
bool Lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    std::string_view item = TakePart(list, ',');
    if (TakePart(item, ';') == word) return !IsRefused(item);
  }
  return false;
}

bool HasAlready(const HttpRequest& request, const PageAsset& asset) {
  const auto tags = request.Header("if-none-match");
  return tags && (Lists(*tags, asset.etag) || Lists(*tags, StrCat("W/", asset.etag)));
}

// Browsers keep the file and ask each time whether it is still the same, because another build of
// the server has other files.
HttpResponse Send(const HttpRequest& request, const PageAsset& asset) {
  HttpResponse response;
  response.headers = StrCat("ETag: ", asset.etag, "\r\nVary: Accept-Encoding\r\n");
  response.may_be_kept = true;
  if (HasAlready(request, asset)) {
    response.status = 304;
    return response;
  }
  response.content_type = asset.content_type;
  if (Lists(request.Header("accept-encoding").value_or(""), "gzip")) {
    response.headers += "Content-Encoding: gzip\r\n";
    response.body = asset.gzip;
  } else {
    response.body = PlainBytes(asset);
  }
  return response;
}

}  // namespace

HttpResponse PageIndex(const HttpCall& call) {
  return Send(call.request, *FindPageAsset("index.html"));
}

HttpResponse PageFile(const HttpCall& call) {
  const PageAsset* asset = FindPageAsset(call.request.rest);
  if (asset == nullptr) return ErrorResponse(404, "ERR the page has no such file");
  return Send(call.request, *asset);
}

}  // namespace tally::server
