// GET / and GET /page/*: the page that shows what the server does, and the files of this page.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

// The page itself.
HttpResponse PageIndex(const HttpCall& call);
// Returns the file that the rest of the path names; 404 if there is none.
HttpResponse PageFile(const HttpCall& call);

}  // namespace tally::server
