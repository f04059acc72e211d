import java.time.OffsetDateTime;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.Order;

/** Uses the generated client as a caller would, and prints a line for each thing it saw. */
public class Main {
  public static void main(String[] arguments) {
    var store = connect(System.getenv("BASE_URL"), System.getenv("API_KEY"));
    var stranger = connect(System.getenv("BASE_URL"), "no key");
    var later = connect(System.getenv("LATER_BASE_URL"), "any key");

    report("list", () -> list(store));
    report("cancel", () -> cancel(store, Long.MIN_VALUE));
    report("cancel again", () -> cancel(store, Long.MIN_VALUE));
    report("cancel no order", () -> cancel(store, 404));
    report("list without a key", () -> list(stranger));
    report("list later", () -> list(later));
    report("cancel later", () -> cancel(later, 1));
  }

  private static void report(String step, Callable<String> take) {
    String saw;
    try {
      saw = take.call();
    } catch (Exception exception) {
      saw = "error: " + exception;
    }
    System.out.println(step + ": " + saw.lines().findFirst().orElse(""));
  }

  private static OrdersApi connect(String baseUrl, String key) {
    var client = new ApiClient();
    client.setBasePath(baseUrl);
    client.setBearerToken(key);
    return new OrdersApi(client);
  }

  private static String list(OrdersApi api) throws Exception {
    try {
      return api.listOrders().stream().map(Main::describe).collect(Collectors.joining(" "));
    } catch (ApiException exception) {
      return describe(exception);
    }
  }

  private static String cancel(OrdersApi api, long orderId) throws Exception {
    try {
      return String.valueOf(api.cancelOrderWithHttpInfo(orderId).getStatusCode());
    } catch (ApiException exception) {
      return describe(exception);
    }
  }

  /** An ApiException with a status is a response other than a success; any other one is a failure of the client. */
  private static String describe(ApiException exception) throws Exception {
    if (exception.getCode() == 0) throw exception;
    return exception.getCode() + " " + Error.fromJson(exception.getResponseBody()).getCode();
  }

  private static String describe(Order order) {
    return Stream.of(order.getId(), order.getPetId(), order.getQuantity(), order.getShipDate(), order.getComplete())
        .map(Main::text)
        .collect(Collectors.joining(","));
  }

  private static String text(Object field) {
    if (field == null) return "-";
    if (field instanceof OffsetDateTime date) return String.valueOf(date.toInstant().toEpochMilli());
    return field.toString();
  }
}
