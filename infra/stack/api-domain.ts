import { BasePathMapping, DomainName, EndpointType, type RestApi, type Stage } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { Construct } from "constructs";
import type { OwnDomain } from "../environments.ts";
import { tls } from "./staged-rest-api.ts";

export interface ApiDomainProps {
  domain: OwnDomain;
  restApi: RestApi;
  stage: Stage;
  /** The path segment under which the domain serves the stage. */
  basePath: string;
}

/** A domain name of your own for a stage. */
export class ApiDomain extends Construct {
  constructor(scope: Construct, id: string, { domain, restApi, stage, basePath }: ApiDomainProps) {
    super(scope, id);
    const domainName = new DomainName(this, "Name", {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, "Certificate", domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
      ...tls,
    });
    new BasePathMapping(this, "BasePath", { domainName, restApi, stage, basePath });
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
