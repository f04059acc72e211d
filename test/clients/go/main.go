// Uses the generated client as a caller would, and prints a line for each thing it saw.
package main

//go:generate mkdir -p api
//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -package api -generate types,client -o api/api.go $DOCUMENT

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"orders/api"
)

func main() {
	store := connect(os.Getenv("BASE_URL"), os.Getenv("API_KEY"))
	stranger := connect(os.Getenv("BASE_URL"), "no key")
	later := connect(os.Getenv("LATER_BASE_URL"), "any key")

	report("list", func() (string, error) { return list(store) })
	report("cancel", func() (string, error) { return cancel(store, math.MinInt64) })
	report("cancel again", func() (string, error) { return cancel(store, math.MinInt64) })
	report("cancel no order", func() (string, error) { return cancel(store, 404) })
	report("list without a key", func() (string, error) { return list(stranger) })
	report("list later", func() (string, error) { return list(later) })
	report("cancel later", func() (string, error) { return cancel(later, 1) })
}

func report(step string, take func() (string, error)) {
	saw, err := take()
	if err != nil {
		saw = fmt.Sprintf("error: %v", err)
	}
	fmt.Printf("%s: %s\n", step, saw)
}

func connect(baseURL, key string) *api.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client, err := api.NewClientWithResponses(baseURL, api.WithRequestEditorFn(authorize))
	if err != nil {
		panic(err)
	}
	return client
}

func list(client *api.ClientWithResponses) (string, error) {
	response, err := client.ListOrdersWithResponse(context.Background())
	if err != nil {
		return "", err
	}
	switch {
	case response.JSON200 != nil:
		orders := []string{}
		for _, order := range *response.JSON200 {
			fields := []string{text(order.Id), text(order.PetId), text(order.Quantity), milliseconds(order.ShipDate), text(order.Complete)}
			orders = append(orders, strings.Join(fields, ","))
		}
		return strings.Join(orders, " "), nil
	case response.JSON401 != nil:
		return fmt.Sprintf("%d %s", response.StatusCode(), response.JSON401.Code), nil
	}
	return response.Status(), nil
}

func cancel(client *api.ClientWithResponses, orderID int64) (string, error) {
	response, err := client.CancelOrderWithResponse(context.Background(), orderID)
	if err != nil {
		return "", err
	}
	for _, problem := range []*api.Error{response.JSON404, response.JSON409} {
		if problem != nil {
			return fmt.Sprintf("%d %s", response.StatusCode(), problem.Code), nil
		}
	}
	return fmt.Sprint(response.StatusCode()), nil
}

func text[T any](field *T) string {
	if field == nil {
		return "-"
	}
	return fmt.Sprint(*field)
}

func milliseconds(date *time.Time) string {
	if date == nil {
		return "-"
	}
	return fmt.Sprint(date.UnixMilli())
}
