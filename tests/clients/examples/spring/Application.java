package com.example;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** One page behind the filter. */
@SpringBootApplication
@RestController
public class Application {
  @GetMapping("/")
  String hello() {
    return "hello";
  }

  public static void main(String[] arguments) {
    SpringApplication.run(Application.class, arguments);
  }
}
