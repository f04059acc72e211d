import { BasePathMapping, DomainName, EndpointType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { Construct } from "constructs";
import type { OwnDomain } from "../environments.ts";
import { stageName, tls } from "./staged-rest-api.ts";

/** A domain name of your own for the stage of the API. */
export class ApiDomain extends Construct {
  constructor(scope: Construct, id: string, domain: OwnDomain, restApi: RestApi) {
    super(scope, id);
    const domainName = new DomainName(this, "Name", {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, "Certificate", domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
      ...tls,
    });
    new BasePathMapping(this, "BasePath", {
      domainName,
      restApi,
      stage: restApi.deploymentStage,
      basePath: stageName,
    });
    new ARecord(this, "Record", {
      recordName: domain.name,
      zone: HostedZone.fromHostedZoneAttributes(this, "Zone", {
        hostedZoneId: domain.hostedZone.id,
        zoneName: domain.hostedZone.name,
      }),
      target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
    });
  }
}
