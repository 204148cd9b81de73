#include "server/web/routes.h"

#include "server/web/api.h"
#include "server/web/check.h"
#include "server/web/health.h"
#include "server/web/live_figures.h"
#include "server/web/metrics_page.h"
#include "server/web/page.h"

namespace tally::server {
namespace {

constexpr Route kRoutes[] = {
    {kHttpGet, "/", PageIndex, HttpAccess::kNoLogin},
    {kHttpGet, "/page/*", PageFile, HttpAccess::kNoLogin},
    {kHttpGet, "/healthz", Health, HttpAccess::kNoLogin},
    {kHttpGet, "/readyz", Readiness, HttpAccess::kNoLogin},
    {kHttpPost, "/api", RunApi},
    {kHttpGet | kHttpPost, "/check", CheckLimit, HttpAccess::kUser, {}, true},
    {kHttpGet | kHttpPost, "/check/*", CheckLimit, HttpAccess::kUser, {}, true},
    {kHttpGet, "/events", OpenEvents, HttpAccess::kUser, "info"},
    {kHttpGet, "/history", Past, HttpAccess::kUser, "info"},
    {kHttpGet, "/metrics", Metrics, HttpAccess::kUser, "info"},
};

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

}  // namespace tally::server
