//! Function words and closed classes.

use super::words;

words! {
    /// Words that open a noun phrase.
    DETERMINERS =
    "a all an another any both each every few her his its many most my no one our several some that the \
     their these this those your"
}

words! {
    /// Words that stand for a noun phrase.
    PRONOUNS =
    "anyone anything everyone everything he her him i it itself me mine nobody nothing one ones ours she \
     somebody someone something that them these they this those us we you yours"
}

words! {
    /// Words that put a noun phrase into a place.
    PREPOSITIONS =
    "about above across after against along among around as at before behind below beneath beside besides \
     between beyond by concerning despite during except for from in inside into like near of off on onto \
     out outside over past per regarding round since through throughout to toward towards under \
     underneath until up upon via with within without"
}

words! {
    /// Finite forms that open a yes-or-no question.
    AUXILIARIES =
    "am are can could did do does had has have is may might must shall should was were will would"
}

words! {
    /// Words that open a question.
    QUESTION_WORDS =
    "how what when where which who whom whose why"
}

words! {
    /// Words before a clause that say nothing of what is wanted.
    OPENERS =
    "actually ah aha alalso and anyway anyways basically btw but claude cool finally first firstly fyi \
     great hello hey hi hm hmm honestly howdy kindly lastly later lol maybe meanwhile next nice nope now \
     oh ok okay perhaps please pls plus plz quickly really regardless secondly so still sure thanks then \
     tho though today tomorrow ugh uh um well yeah yep yes yo"
}

words! {
    /// Words that open a clause that is background.
    SUBORDINATORS =
    "after although as because before given if once provided since though unless until when whenever \
     whereas while"
}

words! {
    /// Words without content of their own.
    STOP_WORDS =
    "a about again all also am an and any anything are as at be been being bit both but by can could did \
     do does doing done down each either else ever everything few for from get give go got had has have \
     having he hello her here hers hey hi him his how i if in into is it its itself just kindly let like \
     little lot make maybe me more most my myself need no nor not now of off ok okay on once one only or \
     other our ours out over own perhaps please pls plz really same shall she should so some something \
     stuff such sure than thank thanks that the their them then there these they thing things this those \
     through to too under until up us very want was way we were what when where which while who whom \
     whose why will with would you your yours"
}

words! {
    /// Words of agreement.
    CONFIRMATIONS =
    "absolutely accept accepted affirmative agree agreed ahead all alright approve approved awesome aye \
     bet brilliant by carry certainly confirm confirmed continue cool correct course deal definitely do \
     exactly excellent fine for go good gotcha great happy indeed it k keep kk let lets lgtm like looks \
     make makes me means merge more nice not now of ok okay okey on perfect please proceed right roger \
     ship so sounds super sure thanks that the thing this thx to totally true way why with works y ya yea \
     yeah yep yes you yup"
}

words! {
    /// At least one of them makes a confirmation.
    YES_WORDS =
    "absolutely accept accepted affirmative agree agreed ahead alright approve approved awesome aye \
     brilliant carry certainly confirm confirmed continue cool correct definitely exactly excellent fine \
     go good great indeed k kk lgtm makes ok okay okey perfect proceed roger ship sounds sure totally \
     works y ya yea yeah yep yes yup"
}

words! {
    /// Words of refusal and what stands beside them.
    REFUSALS =
    "abort about actually alone anymore as away back be bother cancel do drop enough for forget from hold \
     i is it just keep later leave let's lets mind moment nah naw nay need negative never no none nope \
     not now nvm of off on please rather reject scrap skip stop thank thanks that the them there this \
     those today wait way we yet you"
}

words! {
    /// At least one of them makes a refusal.
    NO_WORDS =
    "abort cancel drop forget hold leave nah naw nay negative never no none nope not nvm reject scrap \
     skip stop wait"
}

words! {
    /// Words that choose among what was offered.
    CHOICES =
    "1 2 3 4 5 a all alternative and approach b both bottom c choice d either first for former fourth go \
     i i'd it just last latter left let's lets middle neither number of one one's ones only option \
     options or pick plan please prefer second take that the them these third this those three top two \
     use variant version with would"
}

words! {
    /// At least one of them makes a choice.
    CHOICE_WORDS =
    "1 2 3 4 5 a all b both c d either first former fourth last latter middle neither option options \
     second third"
}

words! {
    /// What a duration or a date is counted in.
    TIME_NOUNS =
    "am april august day days decade decades december february fortnight friday hour hours hr hrs january \
     july june march may microseconds millisecond milliseconds min mins minute minutes moment monday \
     month months ms nanosecond nanoseconds night nights november o'clock october pm quarter quarters \
     saturday sec second seconds secs september sprint sprints sunday thursday time times tuesday \
     wednesday week weekend weekends weeks year years"
}

words! {
    /// Units that make a number a size, not a count of items.
    MEASURES =
    "attempt attempts b bit bits byte bytes char character characters chars column columns-wide core \
     cores cpu cpus decimal decimals degree degrees digit digits dollar dollars em euro euros fps gb gbps \
     ghz gib gigabytes hz iterations kb kbps khz kib kilobytes level levels line lines mb mbps megabytes \
     megapixels meters metres mhz mib mm ok percent percents pixel pixels places point points pt px qps \
     ram rem retries retry rows-high rps spaces stars tb thread threads tib times token tokens tries try \
     width words x"
}

words! {
    /// Numbers as words.
    NUMBER_WORDS =
    "couple dozen dozens eight eighteen eighty eleven fifteen fifty five forty four fourteen hundred \
     hundreds million nine nineteen ninety seven seventeen seventy six sixteen sixty ten thirteen thirty \
     thousand thousands three twelve twenty two"
}

words! {
    /// Who may be given a way to do something.
    PEOPLE =
    "admin admins agents author authors callers client clients consumers contributors customer customers \
     developers devs editors everybody everyone guests maintainers managers me members operator operators \
     owners patients people players reviewer reviewers staff students subscribers support-staff teachers \
     teams tenants us user users viewers visitor visitors"
}

words! {
    /// Names of exchangeable technologies.
    TECHNOLOGIES =
    "actix airflow angular ansible apache appium argo argon2 asyncio avro aws axios axum azure babel bash \
     bazel bcrypt bigquery bincode bootstrap bun c c++ cassandra celery chef circle circleci cjs \
     clickhouse cloudflare cmake commonjs cosmos couchdb cpp csh css cypress dagster deno django docker \
     dynamo dynamodb ejs elasticsearch electron elixir ember enzyme esbuild eslint esm ethereum express \
     fastapi fastify firebase flask flow flutter gatsby gcp git github gitlab go golang gradle grafana \
     graphql grpc grunt gulp hadoop hapi haskell helm heroku html hugo java javascript jax jekyll jenkins \
     jest jquery js json junit k8s kafka karma kotlin kotlinx kubernetes lambda laravel ldap less libuv \
     linux log4j logback lua mariadb maven memcached meson messagepack microservices minio mocha moment \
     momentjs mongo mongodb mongoose monolith mqtt msgpack mysql nats next.js nextjs nginx node nose npm \
     numpy nunjucks nx oauth openapi opensearch opentelemetry oracle pandas parcel parquet perl pg php \
     pip pipenv playwright pnpm poetry polars polling postgres postgresql preact prettier prisma \
     prometheus protobuf protractor puppet puppeteer pydantic pytest python python2 python3 pytorch \
     rabbitmq rails react redis redux requests rest rollup ruby rust rxjs s3 saml sass scala scss \
     selenium sequelize snowflake soap solid spark spring sql sqlalchemy sqlite sqs styled-components \
     subversion svelte svn swc swift tailwind tensorflow terraform threads thrift tokio toml travis ts \
     tsx turborepo typeorm typescript unittest uv vite vitest vue vuex warp webpack websocket websockets \
     xml yaml yarn zeromq zod zookeeper zustand"
}
