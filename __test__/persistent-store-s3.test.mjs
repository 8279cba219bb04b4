// What every Persistent Dir does, over s3Dir. The cases are in support/persistent/conformance/.
import { conformance } from "./support/persistent/conformance.mjs";
import { newS3Store } from "./support/s3/store.mjs";

conformance("s3Dir", newS3Store());
