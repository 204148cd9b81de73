import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What the programs show. */
final class Steps {
  private Steps() {}

  interface Call {
    Object run() throws Exception;
  }

  static void show(String step, Object... values) {
    System.out.println(step + " " + Arrays.stream(values).map(Steps::text).collect(Collectors.joining(", ")));
  }

  /** The error reply as a value to show. */
  static String failure(Call call) {
    try {
      return "no error " + text(call.run());
    } catch (Exception error) {
      return error.getClass().getSimpleName() + ": " + error.getMessage();
    }
  }

  /** A time to live of `whole` may have lost some of it on a slow machine. */
  static boolean near(long left, long whole) {
    return left > whole / 2 && left <= whole;
  }

  /** The server is ended and started again by who started the program. */
  static void restartServer() throws Exception {
    System.out.println("restart");
    System.in.read();
  }

  private static String text(Object value) {
    if (value instanceof byte[]) return Arrays.toString((byte[]) value);
    if (value instanceof List) {
      return ((List<?>) value).stream().map(Steps::text).collect(Collectors.joining(", ", "[", "]"));
    }
    return String.valueOf(value);
  }
}
