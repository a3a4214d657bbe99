// A participant of Fast DDS: sends back whatever comes on "NAME_in" on "NAME_out", and prints a few of its numbers.
// Usage: peer DOMAIN. Loopback only.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

#include "messagesPubSubTypes.h"

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::types::ReturnCode_t;
using Twist = geometry_msgs::msg::dds_::Twist_;
using Scan = sensor_msgs::msg::dds_::LaserScan_;
using Odometry = nav_msgs::msg::dds_::Odometry_;

static void show(const Twist& m) { std::printf("Twist %.17g %.17g\n", m.linear().x(), m.angular().z()); }

static void show(const Scan& m)
{
    const double last = m.ranges().empty() ? 0.0 : m.ranges().back();
    std::printf("LaserScan %s %d %u %zu %.9g\n", m.header().frame_id().c_str(), m.header().stamp().sec(),
                m.header().stamp().nanosec(), m.ranges().size(), last);
}

static void show(const Odometry& m)
{
    std::printf("Odometry %s %.17g %.17g %.17g\n", m.child_frame_id().c_str(), m.pose().pose().position().y(),
                m.pose().pose().orientation().w(), m.twist().twist().angular().z());
}

struct Echo
{
    virtual ~Echo() = default;
    virtual bool step() = 0;
};

template <class Message, class Support>
struct EchoOf : Echo
{
    EchoOf(DomainParticipant* participant, const char* type, const std::string& name, bool reliable)
    {
        TypeSupport support(new Support());
        support.register_type(participant, type);
        Topic* in = participant->create_topic("rt/" + name + "_in", type, TOPIC_QOS_DEFAULT);
        Topic* out = participant->create_topic("rt/" + name + "_out", type, TOPIC_QOS_DEFAULT);
        const auto kind = reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
        DataReaderQos reading = DATAREADER_QOS_DEFAULT;
        reading.reliability().kind = kind;
        reading.history().depth = 5;
        DataWriterQos writing = DATAWRITER_QOS_DEFAULT;
        writing.reliability().kind = kind;
        writing.history().depth = 5;
        reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(in, reading);
        writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(out, writing);
    }

    bool step() override
    {
        Message message;
        SampleInfo info;
        if (reader->take_next_sample(&message, &info) != ReturnCode_t::RETCODE_OK || !info.valid_data)
            return false;
        show(message);
        std::fflush(stdout);
        writer->write(&message);
        return true;
    }

    DataReader* reader;
    DataWriter* writer;
};

int main(int, char** argv)
{
    const int domain = std::atoi(argv[1]);
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    DomainParticipant* participant = DomainParticipantFactory::get_instance()->create_participant(domain, qos);
    if (participant == nullptr)
        return 1;
    EchoOf<Twist, geometry_msgs::msg::dds_::Twist_PubSubType> twists(participant, "geometry_msgs::msg::dds_::Twist_",
                                                                      "twist", true);
    EchoOf<Scan, sensor_msgs::msg::dds_::LaserScan_PubSubType> scans(
        participant, "sensor_msgs::msg::dds_::LaserScan_", "scan", false);
    EchoOf<Odometry, nav_msgs::msg::dds_::Odometry_PubSubType> odometry(
        participant, "nav_msgs::msg::dds_::Odometry_", "odometry", false);
    std::puts("ready");
    std::fflush(stdout);
    Echo* echoes[] = {&twists, &scans, &odometry};
    for (;;)
    {
        bool busy = false;
        for (Echo* echo : echoes)
            busy |= echo->step();
        if (!busy)
            std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}
