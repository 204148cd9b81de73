-- Asks tallyd about the address of the client, for haproxy.cfg beside it.
local FIELDS = {["ratelimit"] = "txn.rate", ["ratelimit-policy"] = "txn.policy", ["retry-after"] = "txn.retry"}
local MEANING = {[200] = "allowed", [429] = "denied", [401] = "undecided", [403] = "undecided", [404] = "undecided"}

core.register_action("limit", {"http-req"}, function(txn)
  local key = txn.f:src()  -- Or "key:" .. txn.sf:req_fhdr("x-api-key"); see http.md
  if #key > 8000 then return txn:set_var("txn.limit", "refused") end  -- It must fit into a buffer.
  local response = core.httpclient():get{
    dst = "abns@tallyd",
    url = "http://localhost/check/web",
    -- With requirepass also: ["authorization"] = {"Bearer password"}
    headers = {["host"] = {"localhost"}, ["x-limit-key"] = {key}},
  }
  local status = response.status or 0
  local meaning = MEANING[status] or (status >= 400 and status < 500 and "refused") or "undecided"
  txn:set_var("txn.limit", meaning)
  if meaning == "undecided" then core.Warning("tallyd gives no decision: " .. status) end
  for name, variable in pairs(FIELDS) do
    if status ~= 0 and response.headers[name] then txn:set_var(variable, response.headers[name][0]) end
  end
end)
