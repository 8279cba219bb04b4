// What every Persistent Dir does, over postgresDir. The cases are in support/persistent/conformance/.
import { conformance } from "./support/persistent/conformance.mjs";
import { newStore } from "./support/postgres/store.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";

const suite = await postgresSuite();
if (suite) conformance("postgresDir", newStore(suite));
