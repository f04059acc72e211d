import { BasePathMapping, DomainName, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { Construct } from "constructs";
import type { OwnDomain } from "../environments.ts";
import { stageName, tls } from "./staged-rest-api.ts";

/** A domain name of your own for the stage of the API. */
export function addDomain(api: Construct, domain: OwnDomain, restApi: RestApi): void {
  const scope = new Construct(api, "Domain");
  const domainName = new DomainName(scope, "Name", {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(scope, "Certificate", domain.certificateArn),
    ...tls,
  });
  new BasePathMapping(scope, "BasePath", { domainName, restApi, basePath: stageName });
  new ARecord(scope, "Record", {
    recordName: domain.name,
    zone: HostedZone.fromHostedZoneAttributes(scope, "Zone", {
      hostedZoneId: domain.hostedZone.id,
      zoneName: domain.hostedZone.name,
    }),
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  });
}
