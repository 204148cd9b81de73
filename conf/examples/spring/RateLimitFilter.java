package com.example;

import jakarta.servlet.*;
import jakarta.servlet.http.*;
import java.util.List;
import org.springframework.beans.factory.annotation.*;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/** Spring Boot: at most tallyd.limit requests a minute from each address. tallyd counts them. */
@org.springframework.stereotype.Component
class RateLimitFilter extends HttpFilter {
  static final RedisScript<List> TAKE = RedisScript.of("return redis.call('LIMIT.TAKE', KEYS[1], unpack(ARGV))", List.class);
  @Autowired StringRedisTemplate tallyd; // It gives up after 50 ms: see application.properties.
  @Value("${tallyd.limit}") String limit;
  @Value("${tallyd.fail-open}") boolean failOpen; // Without a decision: true lets it pass, false answers 503.
  protected void doFilter(HttpServletRequest in, HttpServletResponse out, FilterChain chain)
      throws java.io.IOException, ServletException {
    int status = failOpen ? 200 : 503;
    try {
      List<Long> n = tallyd.execute(TAKE, List.of("web:" + in.getRemoteAddr()), "SLIDING", limit, "1m");
      status = n.get(0) == 1 ? 200 : 429;
      out.setHeader("RateLimit-Policy", "\"web\";q=%d;w=60".formatted(n.get(1)));
      out.setHeader("RateLimit", "\"web\";r=%d;t=%d".formatted(n.get(2), (n.get(4) + 999) / 1000));
      if (status == 429 && n.get(3) >= 0) out.setHeader("Retry-After", "" + (n.get(3) + 999) / 1000); // -1: no wait would help
    } catch (RuntimeException error) { getServletContext().log("no decision: " + error.getMessage()); }
    if (status == 200) chain.doFilter(in, out);
    else out.setStatus(status);
  }
}
