#include "server/web/page.h"

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/http/http_response.h"
#include "server/page/page_assets.h"

namespace tally::server {
namespace {

// Whether the list of a header has the item `word`. Parameters of the items, after a ';', are
// ignored.
bool Lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    item = item.substr(0, item.find(';'));
    const size_t begin = std::min(item.find_first_not_of(" \t"), item.size());
    item = item.substr(begin, item.find_last_not_of(" \t") + 1 - begin);
    if (item == word) return true;
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
