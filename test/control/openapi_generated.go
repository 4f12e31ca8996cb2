// A program with the client that a generator makes of the OpenAPI description; prints what it has seen as JSON.
package main

import (
	"context"
	"edge"
	"encoding/json"
	"net/http"
	"os"

	"github.com/antihax/optional"
)

const version = "2"

var seen = []interface{}{}

func see(values ...interface{}) { seen = append(seen, values) }

func must(err error) {
	if err == nil {
		return
	}
	if failed, ok := err.(edge.GenericSwaggerError); ok {
		panic(err.Error() + " " + string(failed.Body()))
	}
	panic(err)
}

func codeOf(response *http.Response, err error) []interface{} {
	if err == nil {
		panic("no error")
	}
	told := err.(edge.GenericSwaggerError).Model().(edge.ModelError)
	return []interface{}{response.StatusCode, told.ErrorCode, told.Details["pointer"]}
}

func main() {
	configuration := edge.NewConfiguration()
	configuration.BasePath = os.Args[1]
	client := edge.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), edge.ContextAccessToken, os.Args[2])

	ids := []string{}
	for _, name := range []string{"one", "two", "three"} {
		policy, _, err := client.IPPoliciesApi.CreateIpPolicies(ctx, edge.IpPolicyCreate{Description: name}, version, nil)
		must(err)
		ids = append([]string{policy.Id}, ids...)
	}
	update := edge.IpPolicyUpdate{Metadata: "changed"}
	_, _, err := client.IPPoliciesApi.UpdateIpPoliciesId(ctx, update, version, ids[0], nil)
	must(err)
	got, _, err := client.IPPoliciesApi.GetIpPoliciesId(ctx, version, ids[0])
	must(err)
	see("policy", got.Description, got.Metadata, got.CreatedAt != "")
	page, _, err := client.IPPoliciesApi.ListIpPolicies(ctx, version, &edge.IPPoliciesApiListIpPoliciesOpts{Limit: optional.NewInt32(2)})
	must(err)
	last := page.IpPolicies[1].Id
	rest, _, err := client.IPPoliciesApi.ListIpPolicies(ctx, version, &edge.IPPoliciesApiListIpPoliciesOpts{BeforeId: optional.NewString(last)})
	must(err)
	see("pages", page.IpPolicies[0].Id == ids[0], last == ids[1], page.NextPageUri != "", len(rest.IpPolicies), rest.NextPageUri)
	filter := optional.NewString(`obj.metadata == "changed"`)
	found, _, err := client.IPPoliciesApi.ListIpPolicies(ctx, version, &edge.IPPoliciesApiListIpPoliciesOpts{Filter: filter})
	must(err)
	see("filter", len(found.IpPolicies))

	rule := edge.IpPolicyRuleCreate{Cidr: "nonsense", IpPolicyId: ids[0], Action: "allow"}
	_, response, err := client.IPPolicyRulesApi.CreateIpPolicyRules(ctx, rule, version, nil)
	see("bad rule", codeOf(response, err))
	rule.Cidr = "10.0.0.0/8"
	made, _, err := client.IPPolicyRulesApi.CreateIpPolicyRules(ctx, rule, version, nil)
	must(err)
	see("rule", made.Cidr, made.IpPolicy.Id == ids[0])

	backend, _, err := client.HTTPResponseBackendsApi.CreateBackendsHttpResponse(ctx, edge.HttpResponseBackendCreate{StatusCode: 418, Body: "short", Headers: map[string]string{"X-From": "go"}}, version)
	must(err)
	see("backend", backend.StatusCode, backend.Headers["x-from"])
	own, _, err := client.HTTPSEdgesApi.CreateEdgesHttps(ctx, edge.HttpsEdgeCreate{Hostports: []string{"go.test:443"}}, version)
	must(err)
	route, _, err := client.HTTPSEdgeRoutesApi.CreateEdgesHttpsEdgeIdRoutes(ctx, edge.HttpsEdgeRouteCreate{MatchType: "path_prefix", Match: "/", Backend: &edge.HttpsEdgeRouteCreateBackend{Enabled: true, BackendId: backend.Id}}, version, own.Id)
	must(err)
	restriction := edge.HttpsEdgeRouteIpRestrictionReplace{Enabled: true, IpPolicyIds: []string{ids[0]}}
	_, _, err = client.HTTPSEdgeRoutesApi.ReplaceEdgesHttpsEdgeIdRoutesIdIpRestriction(ctx, restriction, version, own.Id, route.Id)
	must(err)
	read, _, err := client.HTTPSEdgeRoutesApi.GetEdgesHttpsEdgeIdRoutesId(ctx, version, own.Id, route.Id)
	must(err)
	see("route", read.Match, read.Backend.Backend.Id == backend.Id, read.IpRestriction.IpPolicies[0].Id == ids[0])
	response, err = client.IPPoliciesApi.DeleteIpPoliciesId(ctx, version, ids[0], nil)
	see("used", codeOf(response, err)[:2])
	response, err = client.HTTPSEdgeRoutesApi.DeleteEdgesHttpsEdgeIdRoutesIdIpRestriction(ctx, version, own.Id, route.Id)
	must(err)
	see("module deleted", response.StatusCode)
	response, err = client.IPPoliciesApi.DeleteIpPoliciesId(ctx, version, ids[0], nil)
	must(err)
	see("deleted", response.StatusCode)
	_, response, err = client.IPPoliciesApi.GetIpPoliciesId(ctx, version, ids[0])
	see("gone", codeOf(response, err)[:2])
	stranger := context.WithValue(context.Background(), edge.ContextAccessToken, "nonsense")
	_, response, err = client.IPPoliciesApi.GetIpPoliciesId(stranger, version, ids[1])
	see("wrong key", codeOf(response, err)[:2])
	must(json.NewEncoder(os.Stdout).Encode(seen))
}
