// An HTTP client of a harness, without a socket: bytes in, responses out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/command_harness.h"
#include "server/http/http_session.h"
#include "server/http/http_site.h"
#include "server/web/routes.h"

namespace tally::server {

// A response as a client takes it apart.
struct ResponseText {
  int status = 0;
  std::string head;  // with the status line
  std::string body;

  // The value of a header, which is written as servers of this kind write it.
  std::string Header(std::string_view name) const {
    const std::string line = StrCat("\r\n", name, ": ");
    const size_t at = head.find(line);
    if (at == std::string::npos) return {};
    const size_t begin = at + line.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// Takes one response off the front; status 0 if there is none that is whole.
inline ResponseText TakeResponse(std::string& bytes, bool has_body = true) {
  ResponseText response;
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return response;
  response.head = bytes.substr(0, end + 2);
  response.status = std::stoi(response.head.substr(9, 3));
  const std::string length = response.Header("Content-Length");
  const size_t size = length.empty() || !has_body ? 0 : std::stoul(length);
  response.body = bytes.substr(end + 4, size);
  bytes.erase(0, end + 4 + size);
  return response;
}

class HttpPeer {
 public:
  explicit HttpPeer(CommandHarness& harness)
      : site(Routes(), harness.state.clients), session(harness.state.services, site) {}

  // Sends the bytes in pieces of at most `most`, each in memory of its own.
  void Send(std::string_view bytes, size_t most = SIZE_MAX) {
    while (!bytes.empty() && !session.finished()) {
      const std::string_view part = bytes.substr(0, most);
      const std::vector<char> piece(part.begin(), part.end());
      bytes.remove_prefix(part.size());
      session.Take({piece.data(), piece.size()});
      session.Run();
      Read();
      while (has_backlog() && !session.client().state.command.postponed()) Continue();
    }
  }
  void Continue() {
    session.Run();
    Read();
  }
  void Read() { received += Taken(session.client().output); }
  bool has_backlog() { return session.client().state.requests.has_backlog(); }

  ResponseText Take(bool has_body = true) { return TakeResponse(received, has_body); }
  // The response to a request with these lines after the first, each with its line end.
  ResponseText Ask(std::string_view first_line, std::string_view headers = "Host: localhost\r\n",
                   std::string_view body = "") {
    std::string request = StrCat(first_line, " HTTP/1.1\r\n", headers);
    if (!body.empty()) StrAppend(request, "Content-Length: ", body.size(), "\r\n");
    Send(StrCat(request, "\r\n", body));
    return Take(!first_line.starts_with("HEAD"));
  }

  HttpSite site;
  HttpSession session;
  std::string received;
};

}  // namespace tally::server
