package com.example;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Spring Boot: at most tallyd.limit requests a minute from each address. tallyd counts them. */
@Component
class RateLimitFilter extends OncePerRequestFilter {
  @Autowired LettuceConnectionFactory tallyd;
  @Value("${tallyd.limit}") String limit;
  @Value("${tallyd.fail-open}") boolean failOpen;

  @Override
  protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    try {
      var decision = Decision.take(tallyd, "web:" + request.getRemoteAddr(), limit, "1m");
      response.setHeader("RateLimit-Policy", "\"web\";q=%d;w=60".formatted(decision.limit()));
      response.setHeader("RateLimit",
          "\"web\";r=%d;t=%d".formatted(decision.remaining(), seconds(decision.resetAfter())));
      if (!decision.allowed()) {
        response.setHeader("Retry-After", String.valueOf(seconds(decision.retryAfter())));
        response.setStatus(429);
        return;
      }
    } catch (DataAccessException error) {
      logger.error("no decision: " + error.getMessage());
      if (!failOpen) {
        response.setStatus(503);
        return;
      }
    }
    chain.doFilter(request, response);
  }

  private static long seconds(long ms) { return (ms + 999) / 1000; }
}
