import { BasePathMapping, DomainName, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { CfnOutput, Stack } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import type { OwnDomain } from "./settings.ts";
import { stageName, tls } from "./staged-rest-api.ts";

/** Serves the API's stage under a domain name of your own. */
export function addDomain(api: Construct, domain: OwnDomain, restApi: RestApi): void {
  const scope = new Construct(api, "Domain");
  const domainName = new DomainName(scope, "Name", {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(
      scope,
      "Certificate",
      domain.certificateArn,
    ),
    ...tls,
  });
  new BasePathMapping(scope, "BasePath", { domainName, restApi, basePath: stageName });
  if (!domain.hostedZone) {
    const value = domainName.domainNameAliasDomainName;
    new CfnOutput(Stack.of(api), "RegionalDomainName", { value });
    return;
  }
  new ARecord(scope, "Record", {
    recordName: domain.name,
    zone: HostedZone.fromHostedZoneAttributes(scope, "Zone", {
      hostedZoneId: domain.hostedZone.id,
      zoneName: domain.hostedZone.name,
    }),
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  });
}
