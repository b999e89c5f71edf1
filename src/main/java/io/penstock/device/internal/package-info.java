/** Shared by the device implementations: the record of open resources. Not exported. */
package io.penstock.device.internal;
