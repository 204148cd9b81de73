#include "server/web/metrics_page.h"

#include <string_view>

#include "server/figures/metrics.h"

namespace tally::server {

HttpResponse Metrics(const HttpCall& call) {
  const std::string_view accepted = call.request.Header("accept").value_or("");
  const bool open = accepted.find("application/openmetrics-text") != std::string_view::npos;
  const MetricsFormat format = open ? MetricsFormat::kOpenMetrics : MetricsFormat::kText;
  return {.content_type = ContentTypeOf(format),
          .body = RenderMetrics(call.server, format)};
}

}  // namespace tally::server
