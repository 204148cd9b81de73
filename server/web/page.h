// GET / and GET /page/*: the page that shows what the server does, and its files.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

// The page itself.
HttpResponse PageIndex(const HttpCall& call);
// The file that is named by the rest of the path; 404 if there is none.
HttpResponse PageFile(const HttpCall& call);

}  // namespace tally::server
