/*
 * Reports to systemd that the service is up and alive (sd_notify(3): one datagram to $NOTIFY_SOCKET). Does nothing when
 * systemd does not listen.
 */
#pragma once

void sd_notify_ready(void);
void sd_notify_alive(void);
