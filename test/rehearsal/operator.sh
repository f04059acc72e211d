# An operator's terminal. It has nothing of the machine's own AWS, and no one confirms what CDK is about to do.
export AWS_ENDPOINT_URL="http://127.0.0.1:$PORT" AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
for name in AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY; do export $name=rehearsal; done
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null GIT_CONFIG_GLOBAL=/dev/null
export CDK_YES=true npm_config_update_notifier=false
export PATH="$SCRATCH/venv/bin:$PATH" TMPDIR="$SCRATCH" PRINTED="$SCRATCH/printed" ROLLOUT="$SCRATCH/rollout"

# No setting of CDK's reaches it.
infra/petstore() {
  if [ "$1" = deploy ]; then set -- "$@" --require-approval never; fi
  command infra/petstore "$@" || ${OTHERWISE:-kill $$}
}

# The variables set before. Any failure ends a block, even where bash would go on, as in the condition of a loop.
if [ -e "$SCRATCH/variables" ]; then . "$SCRATCH/variables"; fi
for tool in aws git npm npx; do eval "$tool() { command $tool \"\$@\" || \${OTHERWISE:-kill \$\$}; }"; done
command_not_found_handle() { echo "$1: no such command" >&2; kill $$; }
fails() { if (OTHERWISE=false && "$@"); then false; fi; }

# Finds something in what the last block printed.
printed() { grep -qP -- "$1" "$PRINTED"; }
issued() { KEY=$(grep -xE '\w+_\w{49}' "$PRINTED"); }

# The stack of an environment, whatever it is called.
stack_name() {
  node -e 'import("./infra/environments.ts").then(({ environments }) =>
    console.log(environments[process.argv[1]].stackName))' "$1"
}
stack() { aws cloudformation describe-stacks --stack-name "$(stack_name "$1")" --output text --query "Stacks[0].$2"; }
output() { stack production "Outputs[?OutputKey=='$1'].OutputValue"; }
base_url() { stack "$1" "Outputs[?OutputKey=='BaseUrl'].OutputValue"; }

# The service passes the smoke test with the last issued key.
kept() { API_KEY=$KEY infra/petstore smoke --base-url "$(base_url "$1")" --wait 0; }

order() { printf '{"id":%s,"petId":1,"quantity":1}\n' "$@"; }
cancel() {
  curl -sS -o /dev/null -w '%{http_code}' -X DELETE -H "Authorization: Bearer $KEY" \
    "$(base_url production)/store/orders/$1" | grep 204
}

function_name() {
  aws cloudformation list-stack-resources --stack-name "$STACK" --output text --query "StackResourceSummaries[?
    ResourceType=='AWS::Lambda::Function' && starts_with(LogicalResourceId, '$1')].PhysicalResourceId"
}

# The names of an environment's tables, all or of one kind, one a line, and what a table holds.
tables() {
  aws dynamodb list-tables --output text --query TableNames | tr '\t' '\n' |
    grep "^$(stack_name "$1")-${2-}" || true
}
items() {
  aws dynamodb scan --table-name "$1" --output text --query \
    "Items[].[id.N, status.S, cancelledBy.S, cancelledAt.S, keyHash.S, revokedAt.S]" | sort
}

admin() { infra/petstore "$@" --env production; }
active_key() { admin keys list | grep "active$" | grep -o "key_[0-9a-f]*"; }

deploy() { infra/petstore deploy production "$@"; }
# Deploys with changes accepted, if they are the expected ones: a line of text for each, without its paths.
deploy_with() {
  local expected said; expected=$1; shift
  said=$(OTHERWISE=:; infra/petstore compare production "$@")
  diff <(echo "$expected") <(sed -n 's/^[! ] [^:]*: //p' <<< "$said")
  deploy "$@" --accept "$(sed -n 's/^STOP .* //p' <<< "$said")"
}
set_production() { sed -i "s|name: .production.,|& $1,|" infra/environments.ts; }
merge() { git commit -qam "$1" && git push -q; }

# Changes every function on main.
release() { for file in functions/*.ts; do echo "$1" >> "$file"; done; merge "$1"; }

stuck_aliases() {
  aws cloudformation list-stack-resources --stack-name "$STACK" --output text --query "StackResourceSummaries[?
    ResourceType=='AWS::Lambda::Alias' && ResourceStatus=='UPDATE_FAILED'].LogicalResourceId"
}
