import { environments } from "./environments.ts";
import { createOrdersApp } from "./stack/orders-app.ts";

createOrdersApp(environments);
