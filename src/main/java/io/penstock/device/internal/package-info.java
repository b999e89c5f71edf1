/** What both implementations of a device need: the record of what is open. Not exported. */
package io.penstock.device.internal;
